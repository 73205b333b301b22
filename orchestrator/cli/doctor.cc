// longhaul doctor: what is missing on a testbed, before any cell runs.
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json.hpp>
#include <memory>

#include "common/printable.hh"
#include "common/version.hh"
#include "orchestrator/cli/commands.hh"
#include "orchestrator/cli/interrupt.hh"
#include "orchestrator/cli/open_testbed.hh"
#include "orchestrator/run/examination.hh"

namespace longhaul::orchestrator {
namespace {

namespace json = boost::json;

constexpr std::chrono::milliseconds kInterruptGlance{100};  // between looks for Ctrl-C

struct DoctorOptions {
  std::string inventory;
  bool json = false;
};

bool healthy(const std::vector<Complaint>& complaints) {
  return std::none_of(complaints.begin(), complaints.end(), [](const auto& one) { return one.serious; });
}

void print_text(const Testbed& testbed, const Examination& examination, const std::vector<Complaint>& complaints) {
  for (const auto& node : testbed.nodes) {
    const auto& examined = examination.nodes.at(node.name);
    const auto* role = boost::describe::enum_to_string(node.role, "?");
    fmt::print("{} ({} at {}:{}): {}\n", node.name, role, node.host, node.port,
               examined.unreachable
                   ? "does not answer"
                   : fmt::format("{}, {} processors{}, {} network interfaces, {} RDMA devices",
                                 printable(examined.facts.kernel.substr(0, examined.facts.kernel.find(' ', 6))),
                                 examined.facts.cpus, examined.facts.emulated ? " (emulated)" : "",
                                 examined.facts.nics.size(), examined.facts.rdma.size()));
  }
  for (const auto& path : examination.paths)
    if (path.error.empty() && path.came == path.sent)
      fmt::print("path {} from {} to {}: {} packets went and came back\n", path.path, path.from, path.to, path.sent);
  for (const auto& one : complaints)
    fmt::print("{}{}{}: {}\n    remedy: {}\n", one.serious ? "PROBLEM " : "advice ", one.node.empty() ? "" : "on ",
               one.node.empty() ? "the testbed" : one.node, printable(one.what), printable(one.remedy));
  if (complaints.empty()) fmt::print("nothing is missing\n");
}

void print_json(const Examination& examination, const std::vector<Complaint>& complaints) {
  json::array list;
  for (const auto& one : complaints)
    list.emplace_back(
        json::object{{"serious", one.serious}, {"node", one.node}, {"what", one.what}, {"remedy", one.remedy}});
  json::array paths;
  for (const auto& path : examination.paths)
    paths.emplace_back(json::object{{"path", path.path},
                                    {"client", path.client},
                                    {"server", path.server},
                                    {"from", path.from},
                                    {"to", path.to},
                                    {"sent", path.sent},
                                    {"came", path.came}});
  fmt::print("{}\n",
             json::serialize(json::object{
                 {"healthy", healthy(complaints)}, {"complaints", std::move(list)}, {"paths", std::move(paths)}}));
}

int doctor(const DoctorOptions& options) {
  watch_interrupts();
  const auto opened = OpenTestbed::open(options.inventory, [](const std::string& line) {
    if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "{}\n", printable(line));
  });
  if (!opened) return report_error(opened.error(), options.json);
  const auto& testbed = opened->testbed();
  const auto own = agents::own_identity(opened->credentials());
  if (!own) return report_error(own.error(), options.json);
  const auto dialer = opened->dialer({});
  boost::asio::io_context io;
  Examination examination;
  std::exception_ptr broken;
  bool over = false;
  boost::asio::co_spawn(io, examine(testbed, *dialer), [&](std::exception_ptr error, Examination found) {
    broken = error;
    examination = std::move(found);
    over = true;
    io.stop();
  });
  while (!over && !interrupted()) io.run_for(kInterruptGlance);
  if (!over) return report_error({.message = "interrupted", .exit_code = ExitCode::interrupted}, options.json);
  if (broken) std::rethrow_exception(broken);
  const auto complaints = diagnose(testbed, examination.nodes, examination.paths,
                                   {.version = version_text(),
                                    .name = own->name,
                                    .certificate = own->term,
                                    .now = std::chrono::system_clock::now()});
  if (options.json)
    print_json(examination, complaints);
  else
    print_text(testbed, examination, complaints);
  return healthy(complaints) ? 0 : static_cast<int>(ExitCode::failure);
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<DoctorOptions>();
  auto* command = app.add_subcommand("doctor", "what is missing on a testbed, node by node, before any cell runs");
  command->add_option("--inventory", options->inventory, "the testbed's Ansible inventory, or slurm:JOB[:FILE]")
      ->required();
  command->add_flag("--json", options->json, "print one JSON document");
  command->footer(
      "Examples:\n  longhaul doctor --inventory cluster.yml\n"
      "  longhaul doctor --inventory slurm:17\n"
      "  longhaul doctor --inventory $(longhaul lab status --json | jq -r .labs[0].inventory)\n"
      "Exits with 0 when nothing serious is missing, with 1 otherwise.");
  command->callback([options, &exit_code] { exit_code = doctor(*options); });
}

}  // namespace longhaul::orchestrator
