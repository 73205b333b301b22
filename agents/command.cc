#include "agents/command.hh"

#include <fmt/ranges.h>

#include <algorithm>

namespace longhaul::agents {
namespace {

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const auto near = nearest(word, candidates);
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

std::string option_name(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

Result<std::string> option(const WorkloadSpec& spec, const StartRequest& request, const std::string& name,
                           const Value& value) {
  const auto* parameter = find_parameter(spec.parameters, name);
  if (parameter == nullptr) {
    std::vector<std::string> names;
    for (const auto& known : spec.parameters) names.push_back(known.name);
    return refuse("workload {} has no parameter '{}'{}", spec.name, name, did_you_mean(name, names));
  }
  if (!applies(*parameter, request.transport))
    return refuse("{}: means nothing over '{}', which has no {}", name, request.transport, spoken(*parameter->needs));
  if (const auto ok = check_value(*parameter, value); !ok) return refuse("{}: {}", name, ok.error().message);
  return fmt::format("--{}={}", option_name(name), format_value(*parameter, value));
}

// A workload without a transport has no ends that could be bound to one.
Result<void> check_transport(const WorkloadSpec& spec, const StartRequest& request) {
  const auto& all = spec.transports;
  if (all.empty() && request.transport.empty() && request.bind.empty() && request.device.empty()) return {};
  if (all.empty())
    return refuse("workload {} has no transport: it takes no transport, device and bind, got '{}', '{}', '{}'",
                  spec.name, request.transport, request.device, request.bind);
  if (std::find(all.begin(), all.end(), request.transport) != all.end()) return {};
  return refuse("workload {} runs over {}, not over '{}'", spec.name, fmt::join(all, ", "), request.transport);
}

}  // namespace

Result<std::vector<std::string>> bench_command(const std::string& bench, const StartRequest& request,
                                               const std::vector<WorkloadSpec>& catalog) {
  if (const auto padding = request.padding.value_or(0); padding < 0 || padding > kMaxPadding)
    return refuse("padding {}: expected 0 to {} bytes", padding, kMaxPadding);
  const auto spec =
      std::find_if(catalog.begin(), catalog.end(), [&](const auto& s) { return s.name == request.workload; });
  if (spec == catalog.end()) {
    std::vector<std::string> names;
    names.reserve(catalog.size());
    for (const auto& known : catalog) names.push_back(known.name);
    return refuse("there is no workload '{}'{}", request.workload, did_you_mean(request.workload, names));
  }
  if (std::find(spec->roles.begin(), spec->roles.end(), request.role) == spec->roles.end())
    return refuse("workload {} has no role '{}'", spec->name, boost::describe::enum_to_string(request.role, "?"));

  if (const auto ok = check_transport(*spec, request); !ok) return tl::unexpected(ok.error());

  std::vector<std::string> options;
  for (const auto& [name, value] : request.parameters) {
    auto one = option(*spec, request, name, value);
    if (!one) return tl::unexpected(one.error());
    options.push_back(std::move(*one));
  }

  std::vector<std::string> arguments{bench, spec->name};
  switch (request.role) {
    case Role::server:
      // Its client tells it the rest.
      arguments.insert(arguments.end(), {"--listen", "--port=0"});
      options.clear();
      break;
    case Role::client:
      arguments.emplace_back("--connect=-");
      arguments.push_back("--transport=" + request.transport);
      break;
    case Role::local:
      if (!request.transport.empty()) arguments.push_back("--transport=" + request.transport);
      break;
    case Role::router:
      break;
  }
  if (!request.bind.empty()) arguments.push_back("--bind=" + request.bind);
  if (!request.device.empty()) arguments.push_back("--device=" + request.device);
  arguments.insert(arguments.end(), options.begin(), options.end());
  return arguments;
}

}  // namespace longhaul::agents
