// Netlink messages about qdiscs, as bytes. Pure: libnl-route 3.7 lacks netem's 64-bit times, its rate and its loss
// models, so they are built attribute by attribute.
#pragma once

#include <linux/netlink.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/result.hh"
#include "degen/engines/netem/plan.hh"

namespace longhaul::degen {

enum class QdiscRequest {
  create,  ///< refused by the kernel (EEXIST) where a qdisc with a handle stands already
  change   ///< of the one with our handle only
};

/// The root qdisc of interface `index`: whole message, sequence number and port 0. Every option is sent every time,
/// because netem keeps the old value of an absent one.
std::vector<std::byte> netem_message(int index, const NetemQdisc& qdisc, QdiscRequest request);

/// Deletes the root qdisc of interface `index` if it bears our handle (the kernel checks it).
std::vector<std::byte> delete_message(int index);

/// Asks for the qdiscs of all interfaces with their statistics.
std::vector<std::byte> dump_message();

/// A qdisc as the kernel describes it.
struct QdiscFacts {
  int index = 0;  ///< of its interface
  std::uint32_t handle = 0;
  std::uint32_t parent = 0;
  std::string kind;
  std::uint32_t drops = 0;
  std::uint32_t queued = 0;  ///< packets
  bool root() const;
};

/// Empty when the message describes no qdisc.
std::optional<QdiscFacts> parse_qdisc(const nlmsghdr& message);

enum class RootState {
  vacant,  ///< the kernel's own default, which bears no handle
  ours,
  foreign
};

/// Decides whether degen may replace the root qdisc of an interface.
RootState judge_root(const std::optional<QdiscFacts>& root);

/// Refuses a foreign root qdisc, naming interface, kind and handle.
Result<void> check_root(const std::string& interface, const std::optional<QdiscFacts>& root);

}  // namespace longhaul::degen
