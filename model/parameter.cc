#include "model/parameter.hh"

#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

namespace longhaul {
namespace {

const Value& value_of(const Parameters& parameters, const std::vector<ParameterSpec>& specs, std::string_view name) {
  if (const auto it = parameters.find(std::string{name}); it != parameters.end()) return it->second;
  const auto* spec = find_parameter(specs, name);
  if (spec == nullptr || !spec->fallback) throw std::out_of_range(fmt::format("no value for parameter '{}'", name));
  return *spec->fallback;
}

// Free text ends up in argument lists and file names of other programs.
Result<void> check_text(const ParameterSpec& spec, const std::string& word) {
  const auto plain = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-' || spec.punctuation.find(c) != std::string::npos;
  };
  if (!word.empty() && word.size() <= spec.longest && !word.starts_with('-') &&
      std::all_of(word.begin(), word.end(), plain))
    return spec.check ? spec.check(word) : Result<void>{};
  std::string more;
  for (const char c : spec.punctuation) more += fmt::format("'{}', ", c);
  return refuse("expected letters, digits, {}'_', '.' or '-', at most {}, got {}", more, spec.longest,
                word.size() > spec.longest ? fmt::format("{} of them", word.size()) : fmt::format("'{}'", word));
}

}  // namespace

bool is_local(const WorkloadSpec& spec) {
  return spec.roles == std::vector{Role::local};
}

bool applies(const ParameterSpec& spec, std::string_view transport) {
  return !spec.needs || offers(transport, *spec.needs);
}

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
    if (spec.choices.empty()) return check_text(spec, *word);
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

std::string choice_of(const Parameters& parameters, const std::string& name, const std::string& fallback) {
  const auto it = parameters.find(name);
  const auto* word = it == parameters.end() ? nullptr : std::get_if<std::string>(&it->second);
  return word == nullptr ? fallback : *word;
}

std::int64_t integer_of(const Parameters& parameters, const std::string& name, std::int64_t fallback) {
  const auto it = parameters.find(name);
  const auto* number = it == parameters.end() ? nullptr : std::get_if<std::int64_t>(&it->second);
  return number == nullptr ? fallback : *number;
}

}  // namespace longhaul
