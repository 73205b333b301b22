// What a datagram socket has received, many at a time, with what the kernel says of each (recvmmsg(2), cmsg(3)).
#pragma once

#include <sys/socket.h>
#include <time.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>

#include "common/error.hh"

namespace longhaul {

/// Calls `take(mmsghdr&, const Payload&)` for each datagram, or each message of the error queue (`flags`), until there
/// is none. Of a datagram its first bytes are in the payload: `msg_len` of them. Never blocks on a non-blocking socket.
/// That an earlier one of ours found nobody is no error of receiving. Throws std::system_error.
template <typename Payload, typename Take>
void receive_all(int socket, int flags, Take take) {
  constexpr std::size_t kBatch = 64;
  struct alignas(cmsghdr) Ancillary {
    std::array<std::byte, 256> bytes;
  };
  std::array<Payload, kBatch> payloads;
  std::array<Ancillary, kBatch> ancillary;
  std::array<iovec, kBatch> places{};
  std::array<mmsghdr, kBatch> messages{};
  for (;;) {
    for (std::size_t i = 0; i < kBatch; ++i) {
      places[i] = {.iov_base = &payloads[i], .iov_len = sizeof payloads[i]};
      messages[i] = {};
      messages[i].msg_hdr.msg_iov = &places[i];
      messages[i].msg_hdr.msg_iovlen = 1;
      messages[i].msg_hdr.msg_control = ancillary[i].bytes.data();
      messages[i].msg_hdr.msg_controllen = ancillary[i].bytes.size();
    }
    const int count = ::recvmmsg(socket, messages.data(), kBatch, flags, nullptr);
    if (count < 0) {
      if (errno == EAGAIN) return;
      if (errno == EINTR || errno == ECONNREFUSED) continue;
      throw_errno("receive datagrams");
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) take(messages[i], payloads[i]);
  }
}

/// Calls `take(const cmsghdr&)` for each part of what came beside a message.
template <typename Take>
void each_ancillary(msghdr& message, Take take) {
  for (auto* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) take(*part);
}

template <typename T>
T ancillary_value(const cmsghdr& part) {
  T value{};
  std::memcpy(&value, CMSG_DATA(&part), sizeof value);
  return value;
}

inline std::chrono::nanoseconds to_duration(const timespec& time) {
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace longhaul
