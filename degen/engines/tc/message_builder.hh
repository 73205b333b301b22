// A netlink message under construction, attribute by attribute: libnl-route 3.7 knows too little of netem and nothing
// of fq and BPF.
#pragma once

#include <netlink/attr.h>
#include <netlink/msg.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace longhaul::degen {

/// Sequence number and port are 0. Memory is all that can fail.
class MessageBuilder {
 public:
  MessageBuilder(int type, int flags) : message_(nlmsg_alloc_size(kSize)) {
    if (!message_ || nlmsg_put(message_.get(), 0, 0, type, 0, flags) == nullptr) throw std::bad_alloc{};
  }

  template <typename T>
  void append(T value) {
    need(nlmsg_append(message_.get(), &value, sizeof value, NLMSG_ALIGNTO));
  }
  template <typename T>
  void put(int attribute, const T& value) {
    need(nla_put(message_.get(), attribute, sizeof value, &value));
  }
  void put(int attribute, const std::string& text) { need(nla_put_string(message_.get(), attribute, text.c_str())); }
  void put(int attribute, std::span<const std::int16_t> table) {
    need(nla_put(message_.get(), attribute, static_cast<int>(table.size_bytes()), table.data()));
  }
  nlattr* open(int attribute) {
    auto* nest = nla_nest_start(message_.get(), attribute);
    if (nest == nullptr) throw std::bad_alloc{};
    // tc sends its nests without NLA_F_NESTED; old kernels compare the type as a whole.
    nest->nla_type = static_cast<std::uint16_t>(attribute);
    return nest;
  }
  void close(nlattr* nest) { nla_nest_end(message_.get(), nest); }

  std::vector<std::byte> bytes() const {
    const auto* header = nlmsg_hdr(message_.get());
    const auto* begin = reinterpret_cast<const std::byte*>(header);
    return {begin, begin + header->nlmsg_len};
  }

 private:
  static void need(int result) {
    if (result < 0) throw std::bad_alloc{};
  }
  // A distribution table takes 8 KiB, the rest less than 1.
  static constexpr std::size_t kSize = 16 * 1024;
  struct Deleter {
    void operator()(nl_msg* message) const { nlmsg_free(message); }
  };
  std::unique_ptr<nl_msg, Deleter> message_;
};

}  // namespace longhaul::degen
