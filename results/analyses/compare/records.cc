#include "results/analyses/compare/records.hh"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

namespace longhaul::results {
namespace {

namespace json = boost::json;

constexpr std::size_t kLongestShown = 60;  // of a value that is shown
constexpr int kTimesStored = 3;            // a share's store, the one of the whole, and one to spare
constexpr double kLastBits = 1e-14;        // of a double's magnitude: what storing may change

std::string shown(const json::value* value) {
  if (value == nullptr) return "nothing";
  auto text = json::serialize(*value);
  return text.size() > kLongestShown ? text.substr(0, kLongestShown) + "..." : text;
}

std::string at(const std::string& path, std::string_view key) {
  return path.empty() ? std::string{key} : path + "." + std::string{key};
}

// Doubles that differ by no more than storing explains.
bool close(const json::value& first, const json::value& second) {
  if (!first.is_double() || !second.is_double()) return false;
  const auto a = first.get_double(), b = second.get_double();
  return std::abs(a - b) <= kLastBits * std::max(std::abs(a), std::abs(b));
}

// `exact`: also where doubles are close.
std::string difference(const std::string& path, const json::value& first, const json::value& second, bool exact) {
  if (first == second || (!exact && close(first, second))) return {};
  if (first.is_object() && second.is_object()) {
    for (const auto& [key, value] : first.get_object()) {
      const auto* other = second.get_object().if_contains(key);
      if (other == nullptr) return at(path, key) + ": " + shown(&value) + " and nothing";
      if (auto found = difference(at(path, key), value, *other, exact); !found.empty()) return found;
    }
    for (const auto& [key, value] : second.get_object())
      if (!first.get_object().contains(key)) return at(path, key) + ": nothing and " + shown(&value);
  }
  if (first.is_array() && second.is_array()) {
    const auto& a = first.get_array();
    const auto& b = second.get_array();
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
      const auto* one = i < a.size() ? &a[i] : nullptr;
      const auto* other = i < b.size() ? &b[i] : nullptr;
      const auto where = path + "[" + std::to_string(i) + "]";
      if (one == nullptr || other == nullptr) return where + ": " + shown(one) + " and " + shown(other);
      if (auto found = difference(where, *one, *other, exact); !found.empty()) return found;
    }
  }
  if (!exact && first.kind() == second.kind() && (first.is_object() || first.is_array())) return {};
  return path + ": " + shown(&first) + " and " + shown(&second);
}

json::value document(const RunRecord& record) {
  return json::parse(to_json(record));
}

// As it is when it has been stored once more: JSON gives one double in ten back with another last bit.
RunRecord stored(const RunRecord& record) {
  auto again = run_record_from_json(to_json(record));
  return again ? std::move(*again) : record;
}

// True if `second` is what `first` becomes when it is stored.
bool becomes(RunRecord first, const json::value& second) {
  for (int times = 0; times <= kTimesStored; ++times, first = stored(first))
    if (document(first) == second) return true;
  return false;
}

}  // namespace

std::string first_difference(const RunRecord& first, const RunRecord& second) {
  auto a = first, b = second;
  a.facts.clear();
  b.facts.clear();
  // Either may have been stored more often than the other.
  const auto one = document(a), other = document(b);
  if (becomes(a, other) || becomes(b, one)) return {};
  auto found = difference("", one, other, false);
  return found.empty() ? difference("", one, other, true) : found;
}

}  // namespace longhaul::results
