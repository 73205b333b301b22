#include "model/parameter.hh"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace longhaul {
namespace {

const Value& value_of(const Parameters& parameters, const std::vector<ParameterSpec>& specs, std::string_view name) {
  if (const auto it = parameters.find(std::string{name}); it != parameters.end()) return it->second;
  const auto* spec = find_parameter(specs, name);
  if (spec == nullptr || !spec->fallback) throw std::out_of_range(fmt::format("no value for parameter '{}'", name));
  return *spec->fallback;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row.back();
}

}  // namespace

const ParameterSpec* find_parameter(const std::vector<ParameterSpec>& specs, std::string_view name) {
  const auto it = std::find_if(specs.begin(), specs.end(), [&](const auto& spec) { return spec.name == name; });
  return it == specs.end() ? nullptr : &*it;
}

Result<Value> parse_value(const ParameterSpec& spec, std::string_view text) {
  Value value = std::string{text};
  if (spec.kind != Kind::choice) {
    const auto number = parse_quantity(spec.kind, text);
    if (!number) return tl::unexpected(number.error());
    value = *number;
  }
  if (const auto ok = check_value(spec, value); !ok) return tl::unexpected(ok.error());
  return value;
}

Result<void> check_value(const ParameterSpec& spec, const Value& value) {
  if (spec.kind == Kind::choice) {
    const auto* word = std::get_if<std::string>(&value);
    if (word == nullptr) return refuse("expected text, got the number {}", std::get<std::int64_t>(value));
    if (spec.choices.empty()) {
      // Free text ends up in argument lists and file names of other programs.
      const bool plain = !word->empty() && word->size() <= 64 && std::all_of(word->begin(), word->end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
               c == '-';
      }) && !word->starts_with('-');
      if (!plain) return refuse("expected letters, digits, '_', '.' or '-', at most 64, got '{}'", *word);
      return {};
    }
    if (std::find(spec.choices.begin(), spec.choices.end(), *word) != spec.choices.end()) return {};
    const auto near = nearest(*word, spec.choices);
    return refuse("expected one of {}, got '{}'{}", fmt::join(spec.choices, ", "), *word,
                  near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
  }
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number == nullptr) return refuse("expected a number, got '{}'", std::get<std::string>(value));
  const auto max = spec.kind == Kind::flag ? 1 : spec.max;
  if (*number < spec.min || *number > max)
    return refuse("{} is outside {} to {}", format_quantity(spec.kind, *number), format_quantity(spec.kind, spec.min),
                  format_quantity(spec.kind, max));
  return {};
}

std::string format_value(const ParameterSpec& spec, const Value& value) {
  if (const auto* word = std::get_if<std::string>(&value)) return *word;
  return format_quantity(spec.kind, std::get<std::int64_t>(value));
}

std::int64_t integer(const Parameters& parameters, const std::vector<ParameterSpec>& specs, std::string_view name) {
  return std::get<std::int64_t>(value_of(parameters, specs, name));
}

std::string text(const Parameters& parameters, const std::vector<ParameterSpec>& specs, std::string_view name) {
  return std::get<std::string>(value_of(parameters, specs, name));
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const auto& candidate : candidates) {
    const auto distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace longhaul
