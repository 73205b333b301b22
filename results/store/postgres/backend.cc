#include "results/store/postgres/backend.hh"

#include <thread>
#include <utility>

#include "common/log.hh"
#include "results/store/postgres/connection.hh"
#include "results/store/postgres/schema.hh"

namespace longhaul::results {
namespace {

using Clock = std::chrono::steady_clock;

// "LHLR": the first half of the key of our advisory locks; the second is the campaign's number.
constexpr const char* kLockClass = "1279806546";
constexpr const char* kUnique = "23505";
constexpr auto kPause = std::chrono::milliseconds{200};
constexpr auto kNoticing = std::chrono::seconds{2};

class PostgresBackend : public Backend {
 public:
  PostgresBackend(PostgresAddress address, Connection connection, std::string campaign,
                  std::chrono::milliseconds patience)
      : address_(std::move(address)),
        connection_(std::move(connection)),
        name_(connection_.name()),
        campaign_(std::move(campaign)),
        patience_(patience) {}

  const std::string& name() const override { return name_; }

  Result<void> save_manifest(const std::string& document) override {
    // Twice the same after a lost answer does no harm: the last one counts.
    return patient([&]() -> Result<void> {
      return connection_.execute("INSERT INTO longhaul.manifests (campaign, document) VALUES ($1, $2)",
                                 {campaign_, document});
    });
  }

  Result<std::string> manifest() const override {
    const auto rows = connection_.run(
        "SELECT document FROM longhaul.manifests WHERE campaign = $1 ORDER BY revision DESC LIMIT 1", {campaign_});
    if (!rows) return tl::unexpected(rows.error());
    return rows->count() == 0 ? std::string{} : rows->text(0, 0);
  }

  Result<void> add_run(const StoredRun& run) override {
    std::vector<std::string> names, values, samples;
    for (const auto& metric : run.metrics) {
      names.push_back(metric.name);
      values.push_back(fmt::format("{}", metric.value));
      samples.push_back(std::to_string(metric.samples));
    }
    // One statement: the run with its metrics, or nothing.
    const Values row{campaign_,
                     run.run_id,
                     run.cell_id,
                     std::to_string(run.repetition),
                     std::to_string(run.attempt),
                     run.status,
                     std::to_string(run.started),
                     std::to_string(run.finished),
                     run.digest,
                     run.workload,
                     run.parameters,
                     run.document,
                     array_of(names),
                     array_of(values),
                     array_of(samples)};
    bool again = false;
    return patient([&]() -> Result<void> {
      auto added = connection_.execute(
          "WITH run AS (INSERT INTO longhaul.runs (campaign, run_id, cell_id, repetition, attempt, status, started, "
          "finished, digest, workload, parameters, document) "
          "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING sequence) "
          "INSERT INTO longhaul.metrics (sequence, metric, value, samples) SELECT run.sequence, one.metric, one.value, "
          "one.samples FROM run, unnest($13::text[], $14::float8[], $15::bigint[]) AS one (metric, value, samples)",
          row);
      const bool tried = std::exchange(again, true);
      if (added || connection_.state() != kUnique) return added;
      if (tried) {
        // The answer to the first try may have been lost, and the run kept.
        const auto kept =
            connection_.run("SELECT 1 FROM longhaul.runs WHERE campaign = $1 AND run_id = $2 AND document = $3",
                            {campaign_, run.run_id, run.document});
        if (kept && kept->count() == 1) return {};
      }
      return fail("{}: run {} is already there", name_, run.run_id);
    });
  }

  Result<std::size_t> count() const override {
    const auto rows = connection_.run("SELECT count(*) FROM longhaul.runs WHERE campaign = $1", {campaign_});
    if (!rows) return tl::unexpected(rows.error());
    return static_cast<std::size_t>(rows->integer(0, 0));
  }

  Result<void> each_document(std::size_t from, const TakeRun& take) const override {
    return connection_.each(
        "SELECT run_id, document FROM longhaul.runs WHERE campaign = $1 ORDER BY sequence OFFSET $2",
        {campaign_, std::to_string(from)}, [&](const Rows& row) {
          StoredRun run;
          run.run_id = row.text(0, 0);
          run.document = row.text(0, 1);
          return take(run);
        });
  }

  Result<std::vector<StoredRun>> index() const override {
    std::vector<StoredRun> runs;
    std::map<std::int64_t, std::size_t> place;
    auto read = connection_.each(
        "SELECT sequence, run_id, cell_id, repetition, attempt, status, started, finished, digest FROM longhaul.runs "
        "WHERE campaign = $1 ORDER BY sequence",
        {campaign_}, [&](const Rows& row) -> Result<void> {
          place.emplace(row.integer(0, 0), runs.size());
          runs.push_back({.run_id = row.text(0, 1),
                          .cell_id = row.text(0, 2),
                          .repetition = static_cast<int>(row.integer(0, 3)),
                          .attempt = static_cast<int>(row.integer(0, 4)),
                          .status = row.text(0, 5),
                          .started = row.integer(0, 6),
                          .finished = row.integer(0, 7),
                          .digest = row.text(0, 8)});
          return {};
        });
    if (!read) return tl::unexpected(read.error());
    read = connection_.each(
        "SELECT m.sequence, m.metric, m.value, m.samples FROM longhaul.metrics m JOIN longhaul.runs r USING (sequence) "
        "WHERE r.campaign = $1",
        {campaign_}, [&](const Rows& row) -> Result<void> {
          // One that was added since the rows were read.
          const auto run = place.find(row.integer(0, 0));
          if (run == place.end()) return {};
          runs[run->second].metrics.push_back({row.text(0, 1), row.real(0, 2), row.integer(0, 3)});
          return {};
        });
    if (!read) return tl::unexpected(read.error());
    return runs;
  }

  Result<void> add_facts(const std::string& digest, const std::string& document) override {
    return patient([&]() -> Result<void> {
      return connection_.execute(
          "INSERT INTO longhaul.facts (campaign, digest, document) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
          {campaign_, digest, document});
    });
  }

  Result<std::map<std::string, std::string>> facts() const override {
    std::map<std::string, std::string> facts;
    auto read = connection_.each("SELECT digest, document FROM longhaul.facts WHERE campaign = $1", {campaign_},
                                 [&](const Rows& row) -> Result<void> {
                                   facts.emplace(row.text(0, 0), row.text(0, 1));
                                   return {};
                                 });
    if (!read) return tl::unexpected(read.error());
    return facts;
  }

 private:
  // `ask` again as long as it fails for want of a server, and the server may come back.
  template <typename Ask>
  Result<void> patient(Ask ask) {
    const auto until = Clock::now() + patience_;
    for (bool told = false;; told = true) {
      auto outcome = ask();
      if (outcome || !connection_.is_lost()) return outcome;
      if (!told) log::warn("{}; trying for {} ms", outcome.error().message, patience_.count());
      while (connection_.is_lost()) {
        if (Clock::now() > until) return outcome;
        std::this_thread::sleep_for(kPause);
        if (auto fresh = reconnect(); !fresh) outcome = tl::unexpected(fresh.error());
      }
    }
  }

  Result<void> reconnect();

  PostgresAddress address_;
  // Asking changes nothing that a caller sees, so const functions may.
  mutable Connection connection_;
  std::string name_;
  std::string campaign_;  // its number
  std::chrono::milliseconds patience_;
};

// A session that has just ended holds its lock until the server has noticed: a moment is waited for it.
Result<void> take_lock(Connection& connection, const std::string& campaign) {
  for (const auto deadline = Clock::now() + kNoticing;; std::this_thread::sleep_for(kPause / 4)) {
    const auto locked =
        connection.run("SELECT pg_catalog.pg_try_advisory_lock($1::integer, $2::integer)", {kLockClass, campaign});
    if (!locked) return tl::unexpected(locked.error());
    if (locked->text(0, 0) == "t") return {};
    if (Clock::now() > deadline) break;
  }
  const auto holder = connection.run(
      "SELECT coalesce(a.usename, '?') || ' from ' || coalesce(host(a.client_addr), 'this machine') FROM "
      "pg_catalog.pg_locks l JOIN pg_catalog.pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory' AND "
      "l.classid = $1::bigint::oid AND l.objid = $2::bigint::oid LIMIT 1",
      {kLockClass, campaign});
  return fail("{}: another longhaul ({}) writes to it: wait for it or end it, or choose another name",
              connection.name(), holder && holder->count() == 1 ? holder->text(0, 0) : "unknown");
}

Result<void> PostgresBackend::reconnect() {
  auto fresh = Connection::open(address_, false);
  if (!fresh) return tl::unexpected(fresh.error());
  // The server may not have noticed yet that the old session is gone; its lock goes with it.
  if (auto locked = take_lock(*fresh, campaign_); !locked) return locked;
  connection_ = std::move(*fresh);
  return {};
}

// The campaign's number; empty: there is none of this name.
Result<std::string> number_of(Connection& connection, const std::string& campaign) {
  const auto rows = connection.run("SELECT campaign FROM longhaul.campaigns WHERE name = $1", {campaign});
  if (!rows) return tl::unexpected(rows.error());
  return rows->count() == 0 ? std::string{} : rows->text(0, 0);
}

// Refuses a campaign that holds something. A start that died before its manifest was saved has left nothing worth
// keeping.
Result<void> check_unused(Connection& connection, const std::string& number) {
  const auto used = connection.run(
      "SELECT EXISTS (SELECT 1 FROM longhaul.manifests WHERE campaign = $1) OR "
      "EXISTS (SELECT 1 FROM longhaul.runs WHERE campaign = $1)",
      {number});
  if (!used) return tl::unexpected(used.error());
  if (used->text(0, 0) == "t")
    return refuse("{}: there is a campaign of this name already: go on with it by --resume, or choose another",
                  connection.name());
  return {};
}

// The right to add, before hours of work: an error of the first run would come late.
Result<void> check_rights(Connection& connection) {
  const auto may = connection.run(
      "SELECT pg_catalog.bool_and(pg_catalog.has_table_privilege('longhaul.' || name, 'INSERT')) FROM "
      "pg_catalog.unnest(ARRAY['campaigns', 'manifests', 'runs', 'metrics', 'facts']) AS name");
  if (!may) return tl::unexpected(may.error());
  if (may->text(0, 0) != "t") return postgres_error(connection.name(), "42501", "add runs");
  return {};
}

Result<Connection> connect(const PostgresAddress& address, bool read_only) {
  auto connection = Connection::open(address, read_only);
  if (!connection) return connection;
  if (auto fits = check_store(*connection); !fits) return tl::unexpected(fits.error());
  return connection;
}

}  // namespace

Result<void> check_free(const PostgresAddress& address) {
  auto connection = connect(address, true);
  if (!connection) return tl::unexpected(connection.error());
  if (auto may = check_rights(*connection); !may) return may;
  const auto number = number_of(*connection, address.campaign);
  if (!number) return tl::unexpected(number.error());
  if (number->empty()) return {};
  return check_unused(*connection, *number);
}

Result<std::vector<StoredCampaignRow>> list_campaigns(const PostgresAddress& address) {
  auto connection = connect(address, true);
  if (!connection) return tl::unexpected(connection.error());
  std::vector<StoredCampaignRow> campaigns;
  auto read = connection->each(
      "SELECT o.campaign, o.cells, o.runs, o.ok, o.refused, o.failed, "
      "to_char(o.first_run AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), "
      "to_char(o.last_run AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), v.version "
      "FROM longhaul.overview o LEFT JOIN longhaul.versions v USING (campaign) ORDER BY o.made, o.campaign",
      {}, [&](const Rows& row) -> Result<void> {
        campaigns.push_back({.name = row.text(0, 0),
                             .cells = row.integer(0, 1),
                             .runs = row.integer(0, 2),
                             .ok = row.integer(0, 3),
                             .refused = row.integer(0, 4),
                             .failed = row.integer(0, 5),
                             .first_run = row.text(0, 6),
                             .last_run = row.text(0, 7),
                             .version = row.text(0, 8)});
        return {};
      });
  if (!read) return tl::unexpected(read.error());
  return campaigns;
}

Result<std::unique_ptr<Backend>> open_postgres(const PostgresAddress& address, OpenMode mode,
                                               std::chrono::milliseconds patience) {
  if (address.campaign.empty())
    return refuse("{}: names no campaign: append #NAME; `longhaul store list URL` shows which there are",
                  address.text());
  auto connection = connect(address, mode == OpenMode::read);
  if (!connection) return tl::unexpected(connection.error());
  if (mode != OpenMode::read)
    if (auto may = check_rights(*connection); !may) return tl::unexpected(may.error());
  if (mode == OpenMode::create) {
    auto made = connection->execute("INSERT INTO longhaul.campaigns (name) VALUES ($1) ON CONFLICT DO NOTHING",
                                    {address.campaign});
    if (!made) return tl::unexpected(made.error());
  }
  const auto number = number_of(*connection, address.campaign);
  if (!number) return tl::unexpected(number.error());
  if (number->empty())
    return refuse("{}: there is no campaign of this name: `longhaul store list URL` shows which there are",
                  address.text());
  if (mode != OpenMode::read)
    if (auto locked = take_lock(*connection, *number); !locked) return tl::unexpected(locked.error());
  if (mode == OpenMode::create)
    if (auto unused = check_unused(*connection, *number); !unused) return tl::unexpected(unused.error());
  return std::make_unique<PostgresBackend>(address, std::move(*connection), *number, patience);
}

}  // namespace longhaul::results
