#include "results/analyses/compare/records.hh"

#include <algorithm>
#include <boost/json.hpp>

#include "model/codec.hh"

namespace longhaul::results {
namespace {

namespace json = boost::json;

constexpr std::size_t kLongestShown = 60;  // of a value that is shown

std::string shown(const json::value* value) {
  if (value == nullptr) return "nothing";
  auto text = json::serialize(*value);
  return text.size() > kLongestShown ? text.substr(0, kLongestShown) + "..." : text;
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

json::value document(RunRecord record) {
  record.facts.clear();
  return codec::encode(record);
}

}  // namespace

std::string first_difference(const RunRecord& first, const RunRecord& second) {
  return difference("", document(first), document(second));
}

}  // namespace longhaul::results
