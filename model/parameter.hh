// The one declaration from which CLI options, campaign validation, the agents' whitelist, the record and the CSV
// derive: what a workload (or the impairment) takes and what it measures.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/result.hh"
#include "common/spelling.hh"
#include "model/transport.hh"
#include "model/units.hh"

namespace longhaul {

/// A parameter's value: an integer in its kind's base unit, or text for Kind::choice.
using Value = std::variant<std::int64_t, std::string>;

/// Values by parameter name. A name that is absent has its default.
using Parameters = std::map<std::string, Value>;

struct ParameterSpec {
  std::string name;  ///< snake_case; the CLI option is the same with dashes
  Kind kind = Kind::count;
  std::string help;               ///< one line, says what it is and when to change it
  std::optional<Value> fallback;  ///< the default; never changes once released (cell identity). Empty: see help
  std::int64_t min = 0;           ///< in base units, inclusive
  std::int64_t max = std::int64_t{1} << 62;
  std::vector<std::string> choices;      ///< for Kind::choice; empty: any text
  std::optional<Capability> needs = {};  ///< what a transport must offer so that it means anything; empty: any does
  std::string punctuation = {};          ///< what any text may hold beside letters, digits, '_', '.' and '-'
  std::size_t longest = 200;             ///< characters of any text
  /// Optional, for any text: what else is asked of it.
  std::function<Result<void>(const std::string&)> check = {};
};

enum class Better { lower, higher, neither };

struct MetricSpec {
  std::string name;
  std::string unit;  ///< base unit of the stored value: ns, bytes, bit/s, 1, % ...; ns is shown as us everywhere
  Better better = Better::neither;
  std::string help;
  bool detail = false;  ///< for the tables and for figures of its own: no plot is offered of it
};

enum class Role { client, server, router, local };

struct WorkloadSpec {
  std::string name;
  std::string summary;
  std::vector<ParameterSpec> parameters;
  std::vector<MetricSpec> metrics;  ///< the first is the headline: plotted and judged for precision
  std::vector<Role> roles;          ///< client and server; or local alone: one process on one node, without a peer
  std::vector<std::string> transports = transport_names();  ///< that it may run over; empty: it has no transport
  /// Capabilities that the transport must have for these parameters; empty: any transport does.
  std::function<std::vector<Capability>(const Parameters&)> needs;
  std::string plot_axis;  ///< default x axis of its plot: a parameter's name
  /// Optional: the headline metric that theory gives for these parameters, in its base unit.
  std::function<std::optional<double>(const Parameters&)> predict;
  /// Estimate of the window's length on a slow machine, for workloads without a parameter `duration`.
  std::function<Nanoseconds(const Parameters&)> lasts = {};
  /// A window that is shorter than asked gives the same answer, if by fewer samples: by a virtual clock it is
  /// shortened.
  bool window_may_shrink = true;
};

/// True if it is one process on one node: no peer, no path, no WAN.
bool is_local(const WorkloadSpec& spec);

/// True if it means anything on this transport.
bool applies(const ParameterSpec& spec, std::string_view transport);

/// Finds by name; nullptr when there is none.
const ParameterSpec* find_parameter(const std::vector<ParameterSpec>& specs, std::string_view name);

/// Reads a value of this parameter: unit, range and choices checked. The error does not repeat the parameter's name.
Result<Value> parse_value(const ParameterSpec& spec, std::string_view text);

/// Checks a value that came as a value (a message, a record): kind, range, choices.
Result<void> check_value(const ParameterSpec& spec, const Value& value);

std::string format_value(const ParameterSpec& spec, const Value& value);

/// The value, or the spec's default. Throws std::out_of_range when there is neither, std::bad_variant_access on a wrong
/// kind.
std::int64_t integer(const Parameters& parameters, const std::vector<ParameterSpec>& specs, std::string_view name);
std::string text(const Parameters& parameters, const std::vector<ParameterSpec>& specs, std::string_view name);

/// A word, or an integer, where no spec is at hand: `fallback` where it is not given, or is of another kind.
std::string choice_of(const Parameters& parameters, const std::string& name, const std::string& fallback = {});
std::int64_t integer_of(const Parameters& parameters, const std::string& name, std::int64_t fallback = 0);

}  // namespace longhaul
