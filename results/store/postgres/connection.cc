#include "results/store/postgres/connection.hh"

#include <algorithm>
#include <cstdlib>

namespace longhaul::results {
namespace {

struct FreeOptions {
  void operator()(PQconninfoOption* options) const noexcept { PQconninfoFree(options); }
};

// One line: libpq ends its messages with a line feed, and a server may send several lines.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c != '\n')
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

std::vector<const char*> pointers_to(const Values& values) {
  std::vector<const char*> pointers;
  for (const auto& value : values) pointers.push_back(value.c_str());
  return pointers;
}

// A socket in the file system, or this machine itself: nobody is in between.
bool is_local(const char* host) {
  if (host == nullptr || *host == '\0') return std::getenv("PGHOST") == nullptr || is_local(std::getenv("PGHOST"));
  const std::string_view name{host};
  return name.starts_with("/") || name == "localhost" || name == "127.0.0.1" || name == "::1";
}

}  // namespace

std::string Rows::text(int row, int column) const {
  const auto size = static_cast<std::size_t>(PQgetlength(handle_.get(), row, column));
  return {PQgetvalue(handle_.get(), row, column), size};
}

std::int64_t Rows::integer(int row, int column) const {
  return std::strtoll(PQgetvalue(handle_.get(), row, column), nullptr, 10);
}

double Rows::real(int row, int column) const {
  return std::strtod(PQgetvalue(handle_.get(), row, column), nullptr);
}

tl::unexpected<Error> postgres_error(const std::string& name, std::string_view state, std::string_view detail) {
  const auto said = one_line(detail);
  if (state == "3D000")
    return refuse("{}: there is no such database ({}): make it with `createdb`, then `longhaul store init URL`", name,
                  said);
  if (state.starts_with("28"))
    return refuse(
        "{}: the server does not let you in ({}): put the password into ~/.pgpass or PGPASSWORD, or ask who "
        "runs it for a role",
        name, said);
  if (state == "42501" || state == "25006")
    return refuse(
        "{}: you have not the right to ({}): ask the store's owner for `longhaul store init URL --writer "
        "YOU`, or --reader",
        name, said);
  if (state == "42704" && said.find("role") != std::string::npos)
    return refuse("{}: there is no such role ({}): make it first with `createuser NAME`", name, said);
  if (state == "53100")
    return fail(
        "{}: no space left on the server ({}): free some and go on with --resume; what was committed before is "
        "kept",
        name, said);
  if (state == "53300")
    return fail("{}: the server has no connection left ({}): raise its max_connections, or start fewer writers", name,
                said);
  if (state.starts_with("53") || state.starts_with("58"))
    return fail("{}: the server cannot ({}): see its log, then go on with --resume; what was committed before is kept",
                name, said);
  if (state.starts_with("08") || state.starts_with("57P") || state.empty())
    return fail(
        "{}: no answer from the server ({}): check that it runs and can be reached; what was committed before "
        "is kept",
        name, said);
  if (state == "XX001" || state == "XX002")
    return fail("{}: the server finds its files damaged ({}): restore them from a backup", name, said);
  return fail("{}: the server says {}: {}", name, state, said);
}

std::string array_of(const std::vector<std::string>& texts) {
  std::string out = "{";
  for (const auto& text : texts) {
    if (out.size() > 1) out += ',';
    out += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    out += '"';
  }
  return out + '}';
}

Result<Connection> Connection::open(const PostgresAddress& address, bool read_only) {
  const auto name = address.text();
  char* wrong = nullptr;
  const std::unique_ptr<PQconninfoOption, FreeOptions> options{PQconninfoParse(address.url.c_str(), &wrong)};
  if (options == nullptr) {
    const std::string why = wrong == nullptr ? "out of memory" : one_line(wrong);
    PQfreemem(wrong);
    return refuse("{}: {}", name, why);
  }
  std::vector<const char*> words, values;
  const char* host = nullptr;
  const auto set = [&](const char* word, const char* value) {
    words.push_back(word);
    values.push_back(value);
  };
  const auto given = [&](std::string_view word) {
    return std::any_of(words.begin(), words.end(), [&](const char* known) { return word == known; });
  };
  for (auto* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val == nullptr) continue;
    set(option->keyword, option->val);
    if (std::string_view{option->keyword} == "host") host = option->val;
  }
  const auto unless_given = [&](const char* word, const char* value, const char* variable) {
    if (!given(word) && (variable == nullptr || std::getenv(variable) == nullptr)) set(word, value);
  };
  unless_given("sslmode", is_local(host) ? "prefer" : "verify-full", "PGSSLMODE");
  unless_given("connect_timeout", "10", "PGCONNECT_TIMEOUT");
  unless_given("tcp_user_timeout", "30000", nullptr);
  unless_given("application_name", "longhaul", "PGAPPNAME");
  set("client_encoding", "UTF8");
  words.push_back(nullptr);
  values.push_back(nullptr);
  Connection connection{name, PQconnectdbParams(words.data(), values.data(), 0)};
  auto* handle = connection.handle_.get();
  if (handle == nullptr) return fail("{}: out of memory", name);
  if (PQstatus(handle) != CONNECTION_OK) {
    // libpq gives no SQLSTATE of a connection that failed (PostgreSQL 15): its own words are all there is.
    const std::string why = PQerrorMessage(handle);
    const auto has = [&](const char* part) { return why.find(part) != std::string::npos; };
    if (has("does not exist") && has("database")) return postgres_error(name, "3D000", why);
    if (has("authentication") || has("no password supplied") || has("pg_hba.conf") || has("role \""))
      return postgres_error(name, "28000", why);
    if (has("certificate") || has("SSL error"))
      return refuse(
          "{}: the server's certificate cannot be checked ({}): name its CA by ?sslrootcert=FILE, or take "
          "what comes by ?sslmode=require",
          name, one_line(why));
    if (has("too many clients") || has("remaining connection slots")) return postgres_error(name, "53300", why);
    return postgres_error(name, "", why);
  }
  PQsetNoticeProcessor(
      handle, [](void*, const char*) {}, nullptr);
  // Names are written out in all statements: nobody's tables may stand in for ours. Numbers come back as they went.
  auto session = connection.execute(
      fmt::format("SELECT set_config('search_path', '', false), set_config('extra_float_digits', '3', false), {}",
                  read_only ? "set_config('default_transaction_read_only', 'on', false)"
                            : "set_config('synchronous_commit', 'on', false)"));
  if (!session) return tl::unexpected(session.error());
  return connection;
}

tl::unexpected<Error> Connection::failed(const PGresult* result) {
  const char* state = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
  state_ = state == nullptr ? "" : state;
  const char* message = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const std::string detail = message != nullptr ? message : PQerrorMessage(handle_.get());
  return postgres_error(name_, state_, detail);
}

Result<Rows> Connection::taken(PGresult* result) {
  Rows rows{result};
  const auto status = PQresultStatus(result);
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) return failed(result);
  return rows;
}

Result<Rows> Connection::run(const std::string& sql, const Values& values) {
  const auto texts = pointers_to(values);
  return taken(PQexecParams(handle_.get(), sql.c_str(), static_cast<int>(texts.size()), nullptr, texts.data(), nullptr,
                            nullptr, 0));
}

Result<void> Connection::execute(const std::string& sql, const Values& values) {
  const auto done = values.empty() ? taken(PQexec(handle_.get(), sql.c_str())) : run(sql, values);
  if (!done) return tl::unexpected(done.error());
  return {};
}

Result<void> Connection::each(const char* sql, const Values& values,
                              const std::function<Result<void>(const Rows&)>& take) {
  const auto texts = pointers_to(values);
  auto* handle = handle_.get();
  if (PQsendQueryParams(handle, sql, static_cast<int>(texts.size()), nullptr, texts.data(), nullptr, nullptr, 0) == 0 ||
      PQsetSingleRowMode(handle) == 0)
    return failed(nullptr);
  Result<void> outcome;
  bool stopped = false;
  // All that comes is read, also after an error: the connection can be used for nothing else before.
  while (auto* result = PQgetResult(handle)) {
    const Rows row{result};
    const auto status = PQresultStatus(result);
    if (status != PGRES_SINGLE_TUPLE && status != PGRES_TUPLES_OK) {
      if (!stopped) outcome = failed(result);
      stopped = true;
    } else if (status == PGRES_SINGLE_TUPLE && !stopped) {
      outcome = take(row);
      stopped = !outcome;
    }
  }
  return outcome;
}

}  // namespace longhaul::results
