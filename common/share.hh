// A share of work that is divided, such as "2/8": the second of eight.
#pragma once

#include <cstddef>
#include <string>

#include "common/result.hh"

namespace longhaul {

struct Share {
  std::size_t number = 1;  ///< from 1
  std::size_t of = 1;
};

/// Reads "2/8". An error says what was expected, not whose option it was.
Result<Share> parse_share(const std::string& text);

}  // namespace longhaul
