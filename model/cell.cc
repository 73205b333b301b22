#include "model/cell.hh"

#include "common/sha256.hh"

namespace longhaul {

const std::vector<ParameterSpec>& common_axes() {
  static const std::vector<ParameterSpec> axes{
      {.name = "transport",
       .kind = Kind::choice,
       .help = "what moves the data",
       .fallback = {},
       .choices = transport_names()},
      {.name = "provider",
       .kind = Kind::choice,
       .help = "RDMA driver: rxe, siw, mlx5 ...; for tcp and ucx_tcp always kernel",
       .fallback = Value{"kernel"},
       .choices = {}},
      {.name = "rival",
       .kind = Kind::choice,
       .help = "for tcp and ucx_tcp: the provider on whose network interface it runs, so that both use the same link",
       .fallback = {},
       .choices = {},
       .needs = Capability::any_link},
      {.name = "path",
       .kind = Kind::choice,
       .help = "wan crosses the router, lan does not",
       .fallback = Value{"wan"},
       .choices = {"wan", "lan"}},
      {.name = "engine",
       .kind = Kind::choice,
       .help = "degen's engine on the router; auto: degen picks one that can do what is asked",
       .fallback = Value{"netem"},
       .choices = {LONGHAUL_ENGINES, kAutoEngine}},
      {.name = kClockAxis,
       .kind = Kind::choice,
       .help = "what times pass by: the host's clock, or a virtual one that counts instructions (the testbed's)",
       .fallback = Value{kHostClock},
       .choices = {kHostClock, kVirtualClock}},
  };
  return axes;
}

Cell make_cell(std::string workload, const Parameters& parameters, const std::vector<ParameterSpec>& specs) {
  Cell cell{.workload = std::move(workload), .parameters = {}};
  for (const auto& [name, value] : parameters) {
    const auto* spec = find_parameter(specs, name);
    if (spec != nullptr && spec->fallback == value) continue;
    cell.parameters.emplace(name, value);
  }
  return cell;
}

std::string canonical(const Cell& cell) {
  std::string text = cell.workload;
  for (const auto& [name, value] : cell.parameters) {
    text += fmt::format(";{}=", name);
    std::visit([&](const auto& v) { text += fmt::format("{}", v); }, value);
  }
  return text;
}

std::string cell_id(const Cell& cell) {
  return short_digest(canonical(cell));
}

}  // namespace longhaul
