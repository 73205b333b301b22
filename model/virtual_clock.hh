// The settings of a virtual clock: QEMU counting instructions instead of reading the host's clock. Equal members give
// equal figures, bit by bit.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace longhaul {

/// Of one run.
struct VirtualClock {
  int shift = 0;           ///< an instruction takes 2^shift ns
  int quantum = 0;         ///< how far the processors' clocks may be apart, instructions
  std::string qemu;        ///< which QEMU counted: version and digest
  std::string image;       ///< digest of what was booted
  std::uint64_t seed = 0;  ///< of this run's variation: phase, order, layout, netem
  std::string digest;      ///< samples_digest() of this run; empty: it was not reckoned
};
BOOST_DESCRIBE_STRUCT(VirtualClock, (), (shift, quantum, qemu, image, seed, digest))

/// A campaign checks itself: some of its runs are made twice.
struct RepeatCheck {
  int runs = 0;
  int equal = 0;                       ///< gave the same samples_digest()
  std::vector<std::string> different;  ///< run ids of the others
};
BOOST_DESCRIBE_STRUCT(RepeatCheck, (), (runs, equal, different))

/// Of a whole campaign: what `longhaul verify` needs to run it again.
struct VirtualTestbed {
  int shift = 0;
  int quantum = 0;
  std::string qemu;
  std::string image;     ///< digests
  std::string kernel;    ///< of the guest
  std::string programs;  ///< of the programs in the image
  std::optional<RepeatCheck> check = {};
};
BOOST_DESCRIBE_STRUCT(VirtualTestbed, (), (shift, quantum, qemu, image, kernel, programs, check))

}  // namespace longhaul
