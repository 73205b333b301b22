// longhaul store: campaigns in PostgreSQL.
#include <boost/json.hpp>
#include <memory>

#include "common/printable.hh"
#include "orchestrator/cli/commands.hh"
#include "results/store/postgres/backend.hh"
#include "results/store/postgres/schema.hh"
#include "results/store/store.hh"

namespace longhaul::orchestrator {
namespace {

namespace json = boost::json;

struct StoreOptions {
  std::string address;
  std::string to;
  results::Rights rights;
  bool as_json = false;
};

int init(const StoreOptions& options) {
  const auto address = results::parse_postgres(options.address);
  if (!address) return report_error(address.error(), options.as_json);
  auto connection = results::Connection::open(*address, false);
  if (!connection) return report_error(connection.error(), options.as_json);
  const auto made = results::init_store(*connection, options.rights);
  if (!made) return report_error(made.error(), options.as_json);
  if (options.as_json)
    fmt::print("{}\n", json::serialize(json::object{{"store", address->text()}, {"made", *made}}));
  else
    fmt::print("{}: {}\n", printable(address->text()), *made ? "the store is made" : "the store is there already");
  return 0;
}

int list(const StoreOptions& options) {
  const auto address = results::parse_postgres(options.address);
  if (!address) return report_error(address.error(), options.as_json);
  const auto campaigns = results::list_campaigns(*address);
  if (!campaigns) return report_error(campaigns.error(), options.as_json);
  if (options.as_json) {
    json::array rows;
    for (const auto& one : *campaigns)
      rows.push_back(json::object{{"campaign", one.name},
                                  {"cells", one.cells},
                                  {"runs", one.runs},
                                  {"ok", one.ok},
                                  {"refused", one.refused},
                                  {"failed", one.failed},
                                  {"first_run", one.first_run},
                                  {"last_run", one.last_run},
                                  {"version", one.version}});
    fmt::print("{}\n", json::serialize(json::object{{"campaigns", rows}}));
    return 0;
  }
  if (campaigns->empty())
    fmt::print("no campaign yet: longhaul run CAMPAIGN --lab --out DIR --store {}\n", printable(address->text()));
  for (const auto& one : *campaigns)
    fmt::print("{}: {} cells, {} runs ({} ok, {} refused, {} failed){}{}\n", printable(one.name), one.cells, one.runs,
               one.ok, one.refused, one.failed, one.last_run.empty() ? "" : ", last " + one.last_run,
               one.version.empty() ? "" : ", by " + printable(one.version));
  return 0;
}

// A copy that was interrupted has runs, and no manifest.
Result<results::Store> open_target(const std::string& to) {
  if (!results::holds_store(to)) return results::Store::open(to, results::OpenMode::create);
  auto store = results::Store::open(to, results::OpenMode::resume);
  if (store && store->manifest())
    return refuse("{}: holds a campaign already: choose another target", results::shown_address(to));
  return store;
}

int copy(const StoreOptions& options) {
  const auto from = results::Store::open(options.address, results::OpenMode::read);
  if (!from) return report_error(from.error(), options.as_json);
  auto to = open_target(options.to);
  if (!to) return report_error(to.error(), options.as_json);
  const auto added = from->copy_to(*to);
  if (!added) return report_error(added.error(), options.as_json);
  if (options.as_json)
    fmt::print("{}\n", json::serialize(json::object{{"runs", *added}}));
  else
    fmt::print("{} runs copied\n", *added);
  return 0;
}

}  // namespace

void add_store_option(CLI::App& command, std::string& store) {
  command
      .add_option("--store", store,
                  "keep the results in PostgreSQL instead of results.db: postgresql://[USER@]HOST/DATABASE[#NAME]; "
                  "without #NAME the campaign is called as the run directory is (docs/store.md)")
      ->type_name("URL");
}

void add_store(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<StoreOptions>();
  auto* command = app.add_subcommand("store", "campaigns of many writers in PostgreSQL: make, list, copy");
  command->require_subcommand(1);
  command->footer(
      "Every command that reads a run directory reads postgresql://HOST/DATABASE#CAMPAIGN as well. Passwords come from "
      "~/.pgpass or PGPASSWORD. A server on another machine must prove its name (sslmode=verify-full) unless the "
      "address "
      "says otherwise.");

  auto* one = command->add_subcommand("init", "make the store in a database, upgrade it, give rights on it");
  one->add_option("URL", options->address, "postgresql://[USER@]HOST/DATABASE")->required();
  one->add_option("--writer", options->rights.writers, "a role that may add campaigns and runs, and change nothing")
      ->type_name("ROLE");
  one->add_option("--reader", options->rights.readers, "a role that may read")->type_name("ROLE");
  one->add_flag("--json", options->as_json, "print one JSON document");
  one->footer("Example:\n  longhaul store init postgresql://db.example.org/lab --writer bench --reader grafana");
  one->callback([options, &exit_code] { exit_code = init(*options); });

  auto* two = command->add_subcommand("list", "the campaigns of a store");
  two->add_option("URL", options->address, "postgresql://[USER@]HOST/DATABASE")->required();
  two->add_flag("--json", options->as_json, "print one JSON document");
  two->footer("Example:\n  longhaul store list postgresql://db.example.org/lab");
  two->callback([options, &exit_code] { exit_code = list(*options); });

  auto* three = command->add_subcommand("copy", "a campaign from one store to another, byte by byte");
  three->add_option("FROM", options->address, "a run directory, or postgresql://HOST/DATABASE#CAMPAIGN")->required();
  three->add_option("TO", options->to, "a new one; a copy that was interrupted is gone on with")->required();
  three->add_flag("--json", options->as_json, "print one JSON document");
  three->footer(
      "Examples:\n  longhaul store copy out/quick postgresql://db.example.org/lab#quick\n"
      "  longhaul store copy postgresql://db.example.org/lab#quick out/quick");
  three->callback([options, &exit_code] { exit_code = copy(*options); });
}

}  // namespace longhaul::orchestrator
