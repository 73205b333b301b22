// Where connections arrive at a server: control and data connections come to one port and are told apart by their
// preamble. Strangers and slow ones hold nobody up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/fd.hh"
#include "common/result.hh"
#include "workloads/harness/control.hh"
#include "workloads/transport/address.hh"
#include "workloads/transport/wait.hh"

namespace longhaul::workloads {

/// A client at the door.
struct Arrival {
  ControlChannel control;
  std::uint64_t session = 0;
};

class Doorstep {
 public:
  explicit Doorstep(OwnFd listener) : listener_(std::move(listener)) {}

  std::uint16_t port() const { return local_address(listener_.get()).port(); }
  std::string address() const { return local_address(listener_.get()).text(); }

  /// The next client; none at the deadline. Throws Interrupted.
  std::optional<Arrival> next_client(const Patience& patience);
  /// The data connections of a session, in the order of their lanes.
  Result<std::vector<OwnFd>> lanes(std::uint64_t session, std::size_t count, const Patience& patience);

 private:
  struct Guest {
    OwnFd fd;
    std::string bytes;  // of its preamble, so far
    Preamble preamble;
    bool known = false;
    std::int64_t arrived = 0;
  };
  bool take_in(const Patience& patience);
  void read_preamble(Guest& guest);

  OwnFd listener_;
  std::vector<Guest> guests_;
};

}  // namespace longhaul::workloads
