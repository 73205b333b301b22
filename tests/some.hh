// For loops that assert: a loop over nothing asserts nothing.
#pragma once

#include <gtest/gtest.h>

#include <iterator>
#include <utility>

namespace longhaul {

/// The range itself, which must not be empty: `for (const auto& cell : some(summary.cells)) EXPECT_...`. A temporary is
/// kept alive for the loop.
template <typename Range>
Range some(Range&& range) {
  EXPECT_FALSE(std::empty(range)) << "the loop has nothing to assert";
  return std::forward<Range>(range);
}

}  // namespace longhaul
