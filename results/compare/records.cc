#include "results/compare/records.hh"

#include <algorithm>
#include <boost/json.hpp>

namespace longhaul::results {
namespace {

namespace json = boost::json;

constexpr std::size_t kLongest = 60;  // of a value that is shown

std::string shown(const json::value* value) {
  if (value == nullptr) return "nothing";
  auto text = json::serialize(*value);
  return text.size() > kLongest ? text.substr(0, kLongest) + "..." : text;
}

std::string at(const std::string& path, std::string_view key) {
  return path.empty() ? std::string{key} : path + "." + std::string{key};
}

std::string difference(const std::string& path, const json::value& first, const json::value& second) {
  if (first == second) return {};
  if (first.is_object() && second.is_object()) {
    for (const auto& [key, value] : first.get_object()) {
      const auto* other = second.get_object().if_contains(key);
      if (other == nullptr) return at(path, key) + ": " + shown(&value) + " and nothing";
      if (auto found = difference(at(path, key), value, *other); !found.empty()) return found;
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
      if (auto found = difference(where, *one, *other); !found.empty()) return found;
    }
  }
  return path + ": " + shown(&first) + " and " + shown(&second);
}

// As it is once it has been stored: JSON gives one double in ten back with another last bit.
json::value stored(RunRecord record) {
  record.facts.clear();
  if (auto again = run_record_from_json(to_json(record))) record = std::move(*again);
  return json::parse(to_json(record));
}

}  // namespace

std::string first_difference(const RunRecord& first, const RunRecord& second) {
  auto a = first, b = second;
  a.facts.clear();
  b.facts.clear();
  // One of the two was stored, the other perhaps not.
  const auto plain_a = json::parse(to_json(a)), plain_b = json::parse(to_json(b));
  if (plain_a == plain_b || stored(a) == plain_b || plain_a == stored(b)) return {};
  return difference("", stored(a), stored(b));
}

}  // namespace longhaul::results
