#include "workloads/protocols/rpc/mix.hh"

#include <algorithm>

namespace longhaul::workloads::rpc {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::uint64_t kSeed = 2007;

}  // namespace

std::size_t Mix::longest(std::size_t mean) {
  return (2 * std::max<std::size_t>(mean / kPage, 1) - 1) * kPage;
}

Mix::Mix(std::uint64_t thread, std::uint64_t begin, std::uint64_t room, std::size_t longest)
    : random_(kSeed + thread), begin_(begin), room_(room), longest_(longest) {}

ClientCall Mix::next() {
  const auto kind = draw(10);
  ClientCall call;
  call.procedure = kind < 8 ? nfs::Procedure::read : nfs::Procedure::write;
  call.size = (1 + draw(longest_ / kPage)) * kPage;
  if (kind < 9) {
    call.offset = begin_ + draw((room_ - call.size) / kPage + 1) * kPage;
    return call;
  }
  if (log_ + call.size > room_) log_ = 0;
  call.offset = begin_ + log_;
  log_ += call.size;
  return call;
}

}  // namespace longhaul::workloads::rpc
