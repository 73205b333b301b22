#include "degen/cli/in_place.hh"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace longhaul::degen {

InPlaceLine::InPlaceLine(bool quiet, End end) : shown_(!quiet && ::isatty(STDERR_FILENO) == 1), end_(end) {}

InPlaceLine::~InPlaceLine() {
  if (written_) fmt::print(stderr, "{}", end_ == End::stays ? "\n" : "\r\033[K");
}

void InPlaceLine::show(const std::string& text) {
  if (!shown_) return;
  fmt::print(stderr, "\r{}\033[K", text);
  std::fflush(stderr);
  written_ = true;
}

}  // namespace longhaul::degen
