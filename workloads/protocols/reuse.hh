// The order in which an application uses its buffers: it decides the hits of a registration cache. Pure, but for
// reading a trace.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "model/parameter.hh"
#include "workloads/protocols/payload.hh"
#include "workloads/transport/plan.hh"

namespace longhaul::workloads {

/// Part of an area of memory.
struct Extent {
  std::size_t offset = 0;
  std::size_t length = 0;
};

/// Messages in their order, again and again from the beginning. Both ends have the same.
struct Reuse {
  std::vector<Extent> order;
  std::size_t area = 0;      ///< bytes that they lie in
  std::size_t longest = 0;   ///< bytes of the longest
  bool disjoint = true;      ///< no two overlap that are not the same
  std::uint8_t payload = 0;  ///< salt of all messages

  /// The same buffer every time.
  static Reuse same(std::size_t size) { return {{{0, size}}, size, size, true, 0}; }
  const Extent& at(std::uint64_t number) const { return order[number % order.size()]; }
};

/// Writes every message of it into the area that they lie in, each once.
void fill(std::span<std::byte> area, const Reuse& reuse, pingpong::Direction direction);

/// By the parameters of reuse_parameters(), `size` and `payload`. Refuses a trace that cannot be read.
Attempt<Reuse> reuse_of(const WorkloadSpec& spec, const Parameters& parameters);

}  // namespace longhaul::workloads
