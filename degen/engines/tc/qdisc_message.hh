// Netlink messages about qdiscs, as bytes, and what degen may do with those that it finds. Pure; for every engine whose
// objects are qdiscs.
#pragma once

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/result.hh"

namespace longhaul::degen {

/// The major number of degen's root qdiscs, by which a later process knows them.
inline constexpr std::uint16_t kOwnHandle = 0xDE6E;

enum class QdiscRequest {
  create,  ///< refused by the kernel (EEXIST) where a qdisc with a handle stands already
  change   ///< of the one with our handle only
};

/// The header of a message about the root qdisc of interface `index` that bears our handle.
tcmsg root_of(int index);

/// Deletes the root qdisc of interface `index` if it bears our handle (the kernel checks it).
std::vector<std::byte> delete_root_message(int index);

/// Asks for the qdiscs of all interfaces with their statistics.
std::vector<std::byte> dump_qdiscs_message();

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
