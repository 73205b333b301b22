// The machine that copies are made of. A kept lab is loaded once, makes the runs that warm it up, and stops; each copy
// goes on from there, with the guest's memory and the code that QEMU has translated for it. All copies begin alike.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/result.hh"
#include "lab/sealed.hh"

namespace longhaul::lab {

/// Time limits of a copy.
struct CopyLimits {
  std::chrono::milliseconds wall = std::chrono::minutes{5};
  std::function<bool()> cancelled = {};  ///< polled; true ends the copy
};

/// Its methods may be called by several threads at once. Nothing is left behind, however this process ends.
class Origin {
 public:
  /// Nothing is started before the first copy is asked for.
  explicit Origin(SealedImage image);
  Origin(const Origin&) = delete;
  Origin& operator=(const Origin&) = delete;
  ~Origin();

  /// Makes a copy, gives it the order and returns what it said, whole. An error: it did not come to its end (a guest
  /// that hangs, a QEMU that ends early), with the last lines of its console. One that is killed, alone or with all
  /// others, is made again: the order gives the same.
  Result<std::string> copy(const std::string& order, const CopyLimits& limits);

 private:
  struct State;
  class Running;
  Result<std::shared_ptr<Running>> running(const CopyLimits& limits);
  void forget(const std::shared_ptr<Running>& gone);
  Result<std::optional<std::string>> try_copy(const std::string& order, const CopyLimits& limits);
  std::unique_ptr<State> state_;
};

}  // namespace longhaul::lab
