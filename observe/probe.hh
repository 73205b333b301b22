// Probe packets: small UDP datagrams between the end nodes, from which the round trip is measured at the ends and the
// residence time at the router (degen captures them there). The codec is pure; the sockets are plain non-blocking
// descriptors for the caller's own loop.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/fd.hh"
#include "common/result.hh"
#include "common/token.hh"
#include "common/well_known.hh"

namespace longhaul::observe {

using longhaul::kProbePort;
inline constexpr std::size_t kProbeSize = 64;  ///< UDP payload, bytes
inline constexpr std::string_view kProbeMagic = "LHPB";
inline constexpr std::uint8_t kProbeVersion = 1;

/// Offsets of the fields in the payload; integers are big-endian, the rest is zero. For capture filters.
namespace probe_offset {
inline constexpr std::size_t magic = 0;
inline constexpr std::size_t version = 4;
inline constexpr std::size_t direction = 5;
inline constexpr std::size_t session = 8;
inline constexpr std::size_t sequence = 12;
inline constexpr std::size_t sender_time = 16;
inline constexpr std::size_t token = 24;
}  // namespace probe_offset

enum class ProbeDirection : std::uint8_t { forward = 0, back = 1 };

struct ProbePacket {
  ProbeDirection direction = ProbeDirection::forward;
  std::uint32_t session = 0;      ///< of one ProbeSender, random
  std::uint32_t sequence = 0;     ///< from 0
  std::uint64_t sender_time = 0;  ///< CLOCK_MONOTONIC_RAW ns at the sender; means nothing elsewhere
  Token token{};                  ///< that the echo wants to see; it sends it back
  bool operator==(const ProbePacket&) const = default;
};

std::array<char, kProbeSize> encode_probe(const ProbePacket& packet);
/// Empty when it is not a probe of this version.
std::optional<ProbePacket> decode_probe(std::string_view payload);

/// Sends probes from one address to the echo at another and times their return.
class ProbeSender {
 public:
  /// `local` and `peer` are numeric IPv4 or IPv6 addresses; the socket is bound to `local` so that the probes take that
  /// attachment's way. Refuses what is no address; throws std::system_error when the kernel refuses the socket.
  static Result<ProbeSender> open(const std::string& local, const std::string& peer,
                                  std::uint16_t peer_port = kProbePort, const Token& token = {});

  /// Sends the next probe. False when the kernel refused it for now (full buffer, peer's port unreachable): the probe
  /// counts as sent and lost.
  bool send();

  /// Takes all that came back. Late and doubled echoes of this session: the first of each sequence counts.
  void receive();

  int fd() const { return fd_.get(); }
  std::uint32_t session() const { return session_; }
  std::uint32_t sent() const { return static_cast<std::uint32_t>(sent_at_.size()); }
  /// Round trips in ns, in order of return.
  const std::vector<std::int64_t>& round_trips() const { return round_trips_; }
  bool all_returned() const { return round_trips_.size() == sent_at_.size(); }

 private:
  ProbeSender(OwnFd fd, std::uint32_t session, const Token& token)
      : fd_(std::move(fd)), session_(session), token_(token) {}
  OwnFd fd_;
  std::uint32_t session_;
  Token token_;
  std::vector<std::uint64_t> sent_at_;  ///< by sequence; 0: its echo has been counted
  std::vector<std::int64_t> round_trips_;
};

/// Answers forward probes that arrive at one address.
class ProbeEcho {
 public:
  /// Port 0 takes a free one (port()). Refuses what is no address; throws std::system_error, e.g. EADDRINUSE.
  static Result<ProbeEcho> open(const std::string& local, std::uint16_t port = kProbePort);

  /// Answers what has come, at most `limit` datagrams; returns how many were answered. Never blocks.
  int answer(int limit = 64);
  /// Only what carries one of these tokens: no answer else, not even a refusal.
  int answer(std::span<const Token> admitted, int limit = 64);

  int fd() const { return fd_.get(); }
  std::uint16_t port() const { return port_; }

 private:
  ProbeEcho(OwnFd fd, std::uint16_t port) : fd_(std::move(fd)), port_(port) {}
  template <typename Admits>
  int answer_if(Admits admits, int limit);
  OwnFd fd_;
  std::uint16_t port_;
};

}  // namespace longhaul::observe
