// What the tests of stores share: a campaign that fits into a glance, files as texts, and why a store does not open.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "results/store/store.hh"
#include "tests/results/synthetic.hh"

namespace longhaul::results {

/// 4 cells of 2 runs.
inline synthetic::Campaign small() {
  return synthetic::campaign({.delays_ns = {0}, .sizes = {64}, .runs = 2, .samples = 50});
}

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// "opened" where it does.
inline std::string refusal(const std::filesystem::path& address, OpenMode mode) {
  const auto store = Store::open(address, mode);
  return store ? "opened" : store.error().message;
}

}  // namespace longhaul::results
