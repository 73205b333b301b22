// `degen apply` by itself: a service of its own, which ends with it.
#pragma once

#include <string>
#include <utility>

#include "common/child.hh"
#include "common/result.hh"

namespace longhaul::degen {

/// A `degen serve` of this program. It ends in order when this goes; when this program is killed, its guard clears.
class OwnService {
 public:
  /// The interfaces towards the clients, and those towards the servers, as `degen serve` takes them. Returns when the
  /// service answers at `socket`, beside which it writes what it owns. What it has to say goes to standard error.
  /// Throws std::system_error.
  static Result<OwnService> start(const std::string& client_side, const std::string& server_side,
                                  const std::string& socket);
  OwnService(OwnService&&) noexcept = default;
  OwnService& operator=(OwnService&&) = delete;
  ~OwnService();

 private:
  explicit OwnService(Child child) : child_(std::move(child)) {}

  Child child_;
};

}  // namespace longhaul::degen
