#include "workloads/protocols/rpc/kernel.hh"

#include <fmt/ranges.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <sstream>
#include <stdexcept>

#include "common/log.hh"
#include "common/well_known.hh"
#include "workloads/harness/helper.hh"
#include "workloads/harness/session.hh"

namespace longhaul::workloads::rpc {
namespace {

// Loading modules and starting daemons takes seconds where processors are emulated.
constexpr Nanoseconds kPatience = std::chrono::seconds{60};

}  // namespace

KernelNfs KernelNfs::begin(const std::string& verb, const std::string& rest) {
  if (!has_helper(kNfsPipe))
    throw Unsupported(
        "only root may serve and mount NFS, and this machine has no helper for it: use a lab's nodes (longhaul run "
        "--lab)");
  // Each has a name of its own: the answer to an earlier order may still be there.
  static std::atomic<unsigned> orders{0};
  // Ended by its destructor from here on, whatever comes.
  KernelNfs nfs{fmt::format("bench-{}-{}", ::getpid(), ++orders)};
  nfs.ask(verb, rest);
  return nfs;
}

std::string KernelNfs::ask(const std::string& verb, const std::string& rest) const {
  tell_helper(kNfsPipe, fmt::format("{} {} {} {}", verb, name_, ::getpid(), rest));
  const auto answer = await_helper(fmt::format("{}-{}.{}", kNfsPipe, name_, verb), kPatience);
  const auto end = answer.find('\n');
  const auto result = answer.substr(0, end);
  auto words = end == std::string::npos ? std::string{} : answer.substr(end + 1);
  if (result == "ok") return words;
  while (!words.empty() && words.back() == '\n') words.pop_back();
  const auto why = fmt::format("the kernel's NFS, {}: {}", verb, words.empty() ? "no reason given" : words);
  if (result == "unsupported") throw Unsupported(why);
  throw std::runtime_error(why);
}

KernelNfs KernelNfs::serve(std::int64_t threads) {
  return begin("serve", fmt::format("{}", threads));
}

KernelNfs KernelNfs::mount(const std::string& address, const std::string& protocol, std::int64_t transfer,
                           std::int64_t slots) {
  return begin("mount", fmt::format("{} {} {} {} {}", address, protocol, protocol == "rdma" ? kNfsRdmaPort : kNfsPort,
                                    transfer, slots));
}

KernelNfs::~KernelNfs() {
  if (name_.empty()) return;
  try {
    tell_helper(kNfsPipe, "end " + name_);
  } catch (const std::exception& error) {
    log::warn("the kernel's NFS may still be in place: {}", error.what());
  }
}

std::string KernelNfs::folder() const {
  return fmt::format("{}-{}.mnt", kNfsPipe, name_);
}

std::vector<std::string> KernelNfs::handles(const std::vector<std::string>& names) const {
  std::istringstream words{ask("handles", fmt::format("{}", fmt::join(names, " ")))};
  std::vector<std::string> all;
  for (std::string word; words >> word;) all.push_back(word.starts_with("\\x") ? word.substr(2) : word);
  if (all.size() != names.size())
    throw std::runtime_error(fmt::format("the kernel's NFS gave {} handles for {} files", all.size(), names.size()));
  return all;
}

nfs::FileHandle handle_of(const std::string& digits) {
  nfs::FileHandle handle;
  handle.size = digits.size() / 2;
  const bool fits = digits.size() % 2 == 0 && handle.size > 0 && handle.size <= handle.bytes.size();
  for (std::size_t i = 0; fits && i < handle.size; ++i) {
    const auto* at = digits.data() + 2 * i;
    unsigned value = 0;
    if (const auto read = std::from_chars(at, at + 2, value, 16); read.ec != std::errc{} || read.ptr != at + 2)
      throw std::runtime_error(fmt::format("'{}' is no file handle", digits));
    handle.bytes[i] = static_cast<std::byte>(value);
  }
  if (!fits) throw std::runtime_error(fmt::format("'{}' is no file handle", digits));
  return handle;
}

}  // namespace longhaul::workloads::rpc
