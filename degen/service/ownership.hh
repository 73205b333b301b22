// The record of what degen puts into the kernel, written under the run directory BEFORE the kernel is
// touched: after a kill -9 the next start reads it and clears.
#pragma once

#include <boost/describe.hpp>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "common/fd.hh"
#include "common/result.hh"
#include "degen/impairment/plan.hh"

namespace longhaul::degen {

struct Ownership {
  int version = 1;
  std::int64_t pid = 0;
  std::string engine;
  std::string holder;
  std::vector<std::string> interfaces;  ///< whose root qdisc or filters are, or will be, degen's
  bool table = false;                   ///< degen's nft table is, or will be, there

  void add(const std::string& interface);
};
BOOST_DESCRIBE_STRUCT(Ownership, (), (version, pid, engine, holder, interfaces, table))

/// The kernel objects that a plan will own.
Ownership ownership_of(const ImpairmentPlan& plan, const std::string& holder);

std::string to_json(const Ownership& ownership);
Result<Ownership> ownership_from_json(std::string_view text);

/// The run directory: one service a directory (locked), its files written whole or not at all.
class RunDirectory {
 public:
  /// Makes and locks it. Refuses when another service has it still after `patience` (the guard of one that was killed
  /// keeps it while it clears), naming its pid; throws std::system_error.
  static Result<RunDirectory> open(const std::string& path, std::chrono::milliseconds patience = {});
  /// Of a guard: with the lock that it was given.
  static RunDirectory inherit(std::string path, OwnFd lock) { return {std::move(path), std::move(lock)}; }

  const std::string& path() const { return path_; }
  int lock() const { return lock_.get(); }
  std::string file(std::string_view name) const { return path_ + "/" + std::string{name}; }

  /// Replaces the file in one step and waits until it is on disk. Throws std::runtime_error.
  void write(std::string_view name, std::string_view content) const;
  /// Empty when there is no such file.
  std::string read(std::string_view name) const;
  void remove(std::string_view name) const noexcept;

 private:
  RunDirectory(std::string path, OwnFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::string path_;
  OwnFd lock_;
};

inline constexpr std::string_view kOwnershipFile = "owned.json";
inline constexpr std::string_view kCalibrationFile = "calibration.json";

}  // namespace longhaul::degen
