// Credits, RDMA reads under way and the longest message, chosen by the path: what keeps it busy, and no more. Pure.
#pragma once

#include "workloads/protocols/rpc/options.hh"
#include "workloads/transport/sizing.hh"

namespace longhaul::workloads::rpc {

/// What the choice is made by.
struct Path {
  PathFacts facts;
  double copied = 0;  ///< bytes a second that this machine copies
};

/// Bytes of the longest message that fit() chooses.
inline constexpr std::size_t kLongestInline = 65536;
/// The longest message where none is chosen (RFC 8166 asks for 1 KiB at the least, Linux has 4 KiB).
inline constexpr std::size_t kUsualInline = 4096;
/// RDMA reads under way: the most that any device is asked for.
inline constexpr std::size_t kMostReads = 128;

/// Bytes of the longest message. A payload that is copied into messages at both ends spares the round trip in which it
/// would be fetched: WRITE but for push, and every long reply of Read-Read. So messages are as long as the call or its
/// reply wants where two copies take less than a round trip, and where kLongestInline is enough; else kUsualInline,
/// since longer ones would only pin memory.
std::size_t fit_inline(const Options& options, const Path& path);

/// Calls under way that keep the link busy: the path's bandwidth-delay product, over all round trips of a call, in
/// calls. No more than the client has threads, one at the least.
std::size_t fit_credits(const Options& options, const Path& path);

/// RDMA reads under way that keep the link busy: the bandwidth-delay product in segments, but a call's own segments at
/// the least (none of them waits for another) and those of all threads at the most.
std::size_t fit_ord(const Options& options, const Path& path);

}  // namespace longhaul::workloads::rpc
