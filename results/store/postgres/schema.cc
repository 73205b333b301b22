#include "results/store/postgres/schema.hh"

namespace longhaul::results {
namespace {

// Documents are texts, as they came: jsonb would not give the same bytes back. Nothing is ever changed or removed, so a
// writer needs no right to: a manifest that is saved again is a further revision.
constexpr const char* kTables = R"(
  CREATE SCHEMA longhaul;
  CREATE TABLE longhaul.store (one integer PRIMARY KEY CHECK (one = 1), schema bigint NOT NULL);
  CREATE TABLE longhaul.campaigns (
    campaign integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    made timestamptz NOT NULL DEFAULT now());
  CREATE TABLE longhaul.manifests (
    revision bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    campaign integer NOT NULL REFERENCES longhaul.campaigns,
    document text NOT NULL);
  CREATE INDEX manifests_by_campaign ON longhaul.manifests (campaign, revision);
  CREATE TABLE longhaul.runs (
    sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    campaign integer NOT NULL REFERENCES longhaul.campaigns,
    run_id text NOT NULL,
    cell_id text NOT NULL,
    repetition integer NOT NULL,
    attempt integer NOT NULL,
    status text NOT NULL,
    started bigint NOT NULL,
    finished bigint NOT NULL,
    digest text NOT NULL,
    workload text NOT NULL,
    parameters jsonb NOT NULL,
    document text NOT NULL,
    UNIQUE (campaign, run_id)) WITH (toast_tuple_target = 256);
  CREATE INDEX runs_in_order ON longhaul.runs (campaign, sequence);
  CREATE TABLE longhaul.metrics (
    sequence bigint NOT NULL REFERENCES longhaul.runs,
    metric text NOT NULL,
    value double precision NOT NULL,
    samples bigint NOT NULL,
    PRIMARY KEY (sequence, metric));
  CREATE TABLE longhaul.facts (
    campaign integer NOT NULL REFERENCES longhaul.campaigns,
    digest text NOT NULL,
    document text NOT NULL,
    PRIMARY KEY (campaign, digest));
)";

// For people, and for packaging/grafana/longhaul.json, whose panels ask nothing else.
constexpr const char* kViews = R"(
  CREATE VIEW longhaul.overview AS
    SELECT c.name AS campaign, c.made, count(r.sequence) AS runs, count(DISTINCT r.cell_id) AS cells,
           count(*) FILTER (WHERE r.status = 'ok') AS ok, count(*) FILTER (WHERE r.status = 'refused') AS refused,
           count(*) FILTER (WHERE r.status = 'failed') AS failed,
           to_timestamp(min(r.started) / 1e9) AS first_run, to_timestamp(max(r.finished) / 1e9) AS last_run
      FROM longhaul.campaigns c LEFT JOIN longhaul.runs r USING (campaign)
     GROUP BY c.campaign;
  CREATE VIEW longhaul.figures AS
    SELECT c.name AS campaign, r.workload, r.cell_id, r.parameters, r.repetition, r.status,
           to_timestamp(r.started / 1e9) AS started, m.metric, m.value, m.samples
      FROM longhaul.runs r JOIN longhaul.campaigns c USING (campaign) JOIN longhaul.metrics m USING (sequence);
  CREATE VIEW longhaul.versions AS
    SELECT DISTINCT ON (c.campaign) c.name AS campaign, m.document::json ->> 'version' AS version,
           m.document::json #>> '{virtual_clock,kernel}' AS kernel, m.document::json #>> '{virtual_clock,qemu}' AS qemu,
           to_timestamp((m.document::json ->> 'started')::numeric / 1e9) AS started
      FROM longhaul.manifests m JOIN longhaul.campaigns c USING (campaign)
     ORDER BY c.campaign, m.revision DESC;
)";

Result<void> give(Connection& connection, const std::string& role, bool writes) {
  const auto quoted = connection.run("SELECT pg_catalog.quote_ident($1)", {role});
  if (!quoted) return tl::unexpected(quoted.error());
  const auto name = quoted->text(0, 0);
  auto given = connection.execute(
      fmt::format("GRANT USAGE ON SCHEMA longhaul TO {0}; GRANT SELECT ON ALL TABLES IN SCHEMA longhaul TO {0}", name));
  if (!given || !writes) return given;
  return connection.execute(fmt::format(
      "GRANT INSERT ON longhaul.campaigns, longhaul.manifests, longhaul.runs, longhaul.metrics, longhaul.facts TO {}",
      name));
}

// 0: there is none.
Result<std::int64_t> schema_of(Connection& connection) {
  const auto there = connection.run("SELECT pg_catalog.to_regclass('longhaul.store') IS NOT NULL");
  if (!there) return tl::unexpected(there.error());
  if (there->text(0, 0) != "t") return 0;
  const auto version = connection.run("SELECT schema FROM longhaul.store");
  if (!version) return tl::unexpected(version.error());
  return version->count() == 0 ? 0 : version->integer(0, 0);
}

tl::unexpected<Error> newer(const Connection& connection, std::int64_t version) {
  return refuse("{}: its schema {} is newer than this program's {}: use the longhaul that made it, or a newer one",
                connection.name(), version, kPostgresSchema);
}

Result<bool> make(Connection& connection, const Rights& rights) {
  const auto version = schema_of(connection);
  if (!version) return tl::unexpected(version.error());
  if (*version > kPostgresSchema) return newer(connection, *version);
  if (*version == 0) {
    const auto sql = fmt::format("{}{}INSERT INTO longhaul.store VALUES (1, {})", kTables, kViews, kPostgresSchema);
    if (auto made = connection.execute(sql); !made) return tl::unexpected(made.error());
  }
  for (const auto& role : rights.readers)
    if (auto given = give(connection, role, false); !given) return tl::unexpected(given.error());
  for (const auto& role : rights.writers)
    if (auto given = give(connection, role, true); !given) return tl::unexpected(given.error());
  return *version == 0;
}

}  // namespace

Result<bool> init_store(Connection& connection, const Rights& rights) {
  const auto encoding = connection.run("SHOW server_encoding");
  if (!encoding) return tl::unexpected(encoding.error());
  if (encoding->text(0, 0) != "UTF8")
    return refuse(
        "{}: its encoding is {}, results are UTF-8: make a database of its own with `createdb -E UTF8 -T "
        "template0 NAME`",
        connection.name(), encoding->text(0, 0));
  if (auto begun = connection.execute("BEGIN"); !begun) return tl::unexpected(begun.error());
  auto made = make(connection, rights);
  auto ended = connection.execute(made ? "COMMIT" : "ROLLBACK");
  if (made && !ended) return tl::unexpected(ended.error());
  return made;
}

Result<void> check_store(Connection& connection) {
  const auto version = schema_of(connection);
  if (!version) return tl::unexpected(version.error());
  if (*version == 0)
    return refuse("{}: there is no store in this database: make one with `longhaul store init URL`", connection.name());
  if (*version > kPostgresSchema) return newer(connection, *version);
  if (*version < kPostgresSchema)
    return refuse(
        "{}: its schema {} is older than this program's {}: its owner upgrades it with `longhaul store init "
        "URL`",
        connection.name(), *version, kPostgresSchema);
  return {};
}

}  // namespace longhaul::results
