// The calls of a database, as FileBench's personality oltp makes them (paper N, section 5.3): of ten calls eight read
// at random, one writes at random, one writes a log. The paper tells the mean size only; here any number of pages up to
// twice the mean is as likely. Pure: a thread's calls follow from its number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include "workloads/protocols/rpc/call.hh"

namespace longhaul::workloads::rpc {

class Mix {
 public:
  /// Bytes of the longest call where they have `mean` of them on average, whole pages.
  static std::size_t longest(std::size_t mean);

  /// The calls of one thread, in the `room` bytes of the file from `begin` on. `longest`: see there.
  Mix(std::uint64_t thread, std::uint64_t begin, std::uint64_t room, std::size_t longest);
  /// But for its xid.
  ClientCall next();

 private:
  std::uint64_t draw(std::uint64_t below) { return random_() % below; }

  std::mt19937_64 random_;
  std::uint64_t begin_;
  std::uint64_t room_;
  std::size_t longest_;
  std::uint64_t log_ = 0;  // where the next write of the log goes
};

}  // namespace longhaul::workloads::rpc
