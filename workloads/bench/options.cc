#include "workloads/bench/options.hh"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>

namespace longhaul::workloads {
namespace {

std::string option_name(const std::string& parameter) {
  auto name = "--" + parameter;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string kind_name(const ParameterSpec& spec) {
  switch (spec.kind) {
    case Kind::duration:
      return "TIME";
    case Kind::size:
      return "SIZE";
    case Kind::rate:
      return "RATE";
    case Kind::fraction:
      return "FRACTION";
    case Kind::count:
      return "N";
    case Kind::flag:
      return "";
    case Kind::choice:
      break;
  }
  return spec.choices.empty() ? "NAME" : fmt::format("{}", fmt::join(spec.choices, "|"));
}

}  // namespace

void add_options(CLI::App& app, const std::vector<ParameterSpec>& specs, OptionTexts& texts) {
  for (const auto& spec : specs) {
    auto* option = app.add_option(option_name(spec.name), texts[spec.name], spec.help)
                       ->group("Workload")
                       ->type_name(kind_name(spec));
    if (spec.kind == Kind::flag) {
      // CLI11 would show what a bare flag means as the default.
      option->expected(0, 1)->default_str("true")->run_callback_for_default(false);
      if (spec.fallback) option->option_text(fmt::format("[true|false]={}", format_value(spec, *spec.fallback)));
    } else if (spec.fallback) {
      option->default_str(format_value(spec, *spec.fallback));
    }
  }
}

Result<Parameters> read_options(const CLI::App& app, const std::vector<ParameterSpec>& specs,
                                const OptionTexts& texts) {
  Parameters parameters;
  for (const auto& spec : specs) {
    const auto* option = app.get_option(option_name(spec.name));
    if (option->count() == 0) continue;
    // A bare flag counts, but brings no text of its own.
    const auto& given = texts.at(spec.name);
    auto value = parse_value(spec, spec.kind == Kind::flag && given.empty() ? "true" : given);
    if (!value) return refuse("{} {}: {}", option_name(spec.name), given, value.error().message);
    parameters.emplace(spec.name, std::move(*value));
  }
  return parameters;
}

}  // namespace longhaul::workloads
