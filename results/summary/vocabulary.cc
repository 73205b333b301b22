#include "results/summary/vocabulary.hh"

#include "model/cell.hh"

namespace longhaul::results {

const WorkloadSpec* Vocabulary::workload(std::string_view name) const {
  for (const auto& spec : workloads)
    if (spec.name == name) return &spec;
  return nullptr;
}

const ParameterSpec* Vocabulary::parameter(std::string_view workload_name, std::string_view name) const {
  if (const auto* spec = find_parameter(common_axes(), name)) return spec;
  if (const auto* spec = find_parameter(impairment, name)) return spec;
  const auto* owner = workload(workload_name);
  return owner == nullptr ? nullptr : find_parameter(owner->parameters, name);
}

const MetricSpec* Vocabulary::metric(std::string_view workload_name, std::string_view name) const {
  const auto* owner = workload(workload_name);
  if (owner == nullptr) return nullptr;
  for (const auto& spec : owner->metrics)
    if (spec.name == name) return &spec;
  return nullptr;
}

bool Vocabulary::is_local(std::string_view workload_name) const {
  const auto* owner = workload(workload_name);
  return owner != nullptr && longhaul::is_local(*owner);
}

bool Vocabulary::of_one_transport(std::string_view workload_name, std::string_view name) const {
  const auto* spec = parameter(workload_name, name);
  return spec != nullptr && spec->needs.has_value();
}

Parameters Vocabulary::completed(std::string_view workload_name, const Parameters& parameters) const {
  auto all = parameters;
  const auto fill = [&](const std::vector<ParameterSpec>& specs) {
    for (const auto& spec : specs)
      if (spec.fallback) all.emplace(spec.name, *spec.fallback);
  };
  fill(common_axes());
  fill(impairment);
  if (const auto* owner = workload(workload_name)) fill(owner->parameters);
  return all;
}

std::string Vocabulary::spelt(std::string_view workload_name, const Parameters& parameters,
                              const std::string& name) const {
  const auto* spec = parameter(workload_name, name);
  if (const auto it = parameters.find(name); it != parameters.end()) {
    if (spec != nullptr) return brief(format_value(*spec, it->second));
    return std::visit([](const auto& value) { return fmt::format("{}", value); }, it->second);
  }
  return spec != nullptr && spec->fallback ? format_value(*spec, *spec->fallback) : std::string{};
}

std::string Vocabulary::listed(std::string_view workload_name, const Parameters& parameters) const {
  std::string text;
  for (const auto& [name, value] : parameters)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, spelt(workload_name, parameters, name));
  return text;
}

}  // namespace longhaul::results
