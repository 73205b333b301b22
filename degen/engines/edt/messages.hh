// Netlink messages about engine edt's objects, as bytes: fq, clsact and the filters in it. Pure. libnl-route 3.7 knows
// none of them.
#pragma once

#include "degen/engines/edt/plan.hh"
#include "degen/engines/tc/qdisc_message.hh"

namespace longhaul::degen {

/// The root qdisc of interface `index`. Every option that matters is sent every time.
std::vector<std::byte> fq_message(int index, const FqQdisc& qdisc, QdiscRequest request);

/// clsact: where filters of both directions live. There is at most one, and it has no handle of its own.
std::vector<std::byte> clsact_message(int index);
std::vector<std::byte> delete_clsact_message(int index);

enum class Hook { ingress, egress };

/// degen's filters: their place among those of others (lower numbers come first; where none is named, the kernel goes
/// down from 49152) and their name, by both of which a later process knows them. The second name says that their clsact
/// is degen's, too.
inline constexpr std::uint16_t kOwnPriority = 100;
inline constexpr std::string_view kOwnFilter = "longhaul_degen";
inline constexpr std::string_view kOwnFilterAndClsact = "longhaul_degen+clsact";

/// Attaches the loaded program `fd`, in place of the one that degen has there.
std::vector<std::byte> filter_message(int index, Hook hook, int fd, std::string_view name);
std::vector<std::byte> delete_filter_message(int index, Hook hook);
/// Asks for the filters of one interface.
std::vector<std::byte> dump_filters_message(int index, Hook hook);

/// A filter as the kernel describes it.
struct FilterFacts {
  std::uint32_t handle = 0;
  std::uint16_t priority = 0;
  std::string kind;
  std::string name;  ///< of a BPF filter
  bool ours() const;
  /// It stands where degen's would, and is not degen's.
  bool in_the_way() const;
};

/// Empty when the message describes no filter.
std::optional<FilterFacts> parse_filter(const nlmsghdr& message);

/// Whether this qdisc is what holds the filters of an interface: clsact, or its predecessor ingress.
bool holds_filters(const QdiscFacts& qdisc);

}  // namespace longhaul::degen
