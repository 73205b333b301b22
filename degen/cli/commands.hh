// The commands of the program `degen`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/result.hh"
#include "degen/certify/points.hh"
#include "degen/client/messages.hh"
#include "degen/impairment/plan.hh"
#include "model/cell.hh"
#include "model/parameter.hh"
#include "model/units.hh"

namespace longhaul::degen {

struct ServeOptions {
  std::string socket;  ///< empty: degen.sock in the run directory
  std::string run_directory = "/run/degen";
  std::vector<std::string> client_side;
  std::vector<std::string> server_side;
  std::optional<std::string> group;
  std::string mode = "0660";  ///< octal
  Nanoseconds spin{0};
  bool guarded = true;  ///< by a second process (service/guard.hh)
};

/// The interfaces as they are now. Throws std::system_error.
Sides sides_of(const ServeOptions& options);

struct ApplyOptions {
  std::string socket{kDefaultSocket};
  /// None: a service is there. Two: those towards the clients, separated by commas, and those towards the servers. One,
  /// with `both_ways`: that one is towards the servers, all others towards the clients.
  std::vector<std::string> interfaces;
  bool both_ways = false;
  std::string engine = kAutoEngine;
  Parameters parameters;
  std::optional<std::uint32_t> seed;    ///< empty: degen draws one
  std::optional<Nanoseconds> duration;  ///< empty: until Ctrl-C
  bool json = false;
};

struct CertifyOptions {
  CertifyGrid grid{
      .engines = {},  // all
      .delays = {std::chrono::microseconds{100}, std::chrono::milliseconds{1}, std::chrono::milliseconds{5},
                 std::chrono::milliseconds{20}, std::chrono::milliseconds{100}, std::chrono::milliseconds{500}},
      .rates = {BitRate{10'000'000}, BitRate{100'000'000}, BitRate{1'000'000'000}},
      .packets_a_second = {1000, 10'000, 50'000},
      .size = 64,
      .duration = std::chrono::seconds{1}};
  int rounds = 1;
  std::string out;  ///< empty: the certificate is only printed
  bool json = false;
};

/// Each runs to its end; the error's exit code is the program's.
Result<ExitCode> serve(const ServeOptions& options);
/// The guard of a service, which started it with the descriptors of GuardFds and its own options.
Result<ExitCode> guard(const ServeOptions& options);
Result<ExitCode> apply(const ApplyOptions& options);
/// `watch`: again each second, until Ctrl-C.
Result<ExitCode> show(const std::string& socket, bool json, bool watch);
/// Measures the engines in network namespaces of its own, as root.
Result<ExitCode> certify(const CertifyOptions& options);
/// The ready WANs, with where their figures come from.
Result<ExitCode> list_profiles(bool json);
/// Prints the schedule of a trace (a file, or "-"), as apply --schedule takes it.
Result<ExitCode> print_schedule(const std::string& file, Nanoseconds step);
Result<ExitCode> clear(const std::string& socket, bool force, bool json);

/// A report for people. Pure.
std::string to_text(const Report& report);
/// "5.012ms": microseconds are as fine as people want it. Pure.
std::string short_time(std::int64_t nanoseconds);

}  // namespace longhaul::degen
