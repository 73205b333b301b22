#include "tests/postgres_server.hh"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "common/fd.hh"
#include "tests/free_port.hh"

namespace longhaul::testing_support {
namespace {

namespace fs = std::filesystem;

// The server refuses to be root: then it is nobody.
constexpr unsigned kNobody = 65534;

// The newest of those that are installed.
fs::path find_programs() {
  fs::path newest;
  std::error_code error;
  for (const auto& version : fs::directory_iterator{"/usr/lib/postgresql", error}) {
    const auto here = version.path() / "bin";
    if (fs::exists(here / "postgres", error) &&
        (newest.empty() || std::stoi(version.path().filename()) > std::stoi(newest.parent_path().filename())))
      newest = here;
  }
  return newest;
}

// As nobody where we are root.
std::vector<std::string> as_server(std::vector<std::string> command) {
  if (::geteuid() != 0) return command;
  std::vector<std::string> whole{"setpriv", fmt::format("--reuid={}", kNobody), fmt::format("--regid={}", kNobody),
                                 "--clear-groups"};
  whole.insert(whole.end(), command.begin(), command.end());
  return whole;
}

std::string must(const std::vector<std::string>& command) {
  std::string errors;
  auto done = run_command(command, &errors);
  if (!done.exit.ok())
    throw std::runtime_error(fmt::format("{}: {}\n{}{}", command[0], done.exit.text(), done.out, errors));
  return std::move(done.out);
}

std::string slurp(const fs::path& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

std::string PostgresServer::missing() {
  return find_programs().empty() ? "no PostgreSQL server here: apt-get install postgresql" : "";
}

fs::path PostgresServer::program(const std::string& name) const {
  return find_programs() / name;
}

PostgresServer::PostgresServer(bool durable) : durable_(durable), port_(testing::free_port()) {
  const auto& folder = folder_.path();
  const auto name = [&](const char* file) { return (folder / file).string(); };
  must({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
        "-subj", "/CN=test CA", "-keyout", name("ca.key"), "-out", name("ca.pem")});
  must({"openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
        "/CN=localhost", "-keyout", name("server.key"), "-out", name("server.csr")});
  must({"openssl", "x509", "-req", "-in", name("server.csr"), "-CA", name("ca.pem"), "-CAkey", name("ca.key"),
        "-CAcreateserial", "-days", "2", "-out", name("server.pem")});
  if (::geteuid() == 0)
    for (const auto& path : {folder, folder / "server.key", folder / "server.pem"})
      if (::chown(path.c_str(), kNobody, kNobody) != 0) throw std::runtime_error("chown");
  fs::permissions(name("server.key"), fs::perms::owner_read);
  must(as_server({program("initdb").string(), "-D", name("data"), "-U", "owner", "-E", "UTF8", "--locale=C",
                  "--auth-local=trust", "--auth-host=scram-sha-256", "--no-sync"}));
  start();
}

PostgresServer::~PostgresServer() {
  try {
    stop();
  } catch (const std::exception& error) {
    fmt::print(stderr, "the PostgreSQL server of a test: {}\n", error.what());
  }
}

void PostgresServer::start() {
  const auto folder = folder_.path().string();
  const OwnFd log{::open((folder + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)};
  std::vector<std::string> command{program("postgres").string(), "-D", folder + "/data", "-k", folder};
  for (const auto& setting :
       {std::string{"listen_addresses=127.0.0.1"}, fmt::format("port={}", port_), std::string{"ssl=on"},
        "ssl_cert_file=" + folder + "/server.pem", "ssl_key_file=" + folder + "/server.key",
        std::string{durable_ ? "fsync=on" : "fsync=off"},
        std::string{durable_ ? "shared_buffers=128MB" : "shared_buffers=16MB"}, std::string{"max_connections=80"}}) {
    command.emplace_back("-c");
    command.push_back(setting);
  }
  server_ = Child{{.arguments = as_server(std::move(command)), .descriptors = {{log.get(), 1}, {log.get(), 2}}}};
  wait_until_it_answers();
}

void PostgresServer::wait_until_it_answers() {
  for (int i = 0; i < 600; ++i) {
    std::string errors;
    if (run_command({program("pg_isready").string(), "-q", "-h", folder_.path().string(), "-p", std::to_string(port_)},
                    &errors)
            .exit.ok())
      return;
    if (server_.poll()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
  throw std::runtime_error("the PostgreSQL server does not answer:\n" + slurp(folder_.path() / "log"));
}

void PostgresServer::stop() {
  if (!server_.running()) return;
  // "Fast shutdown": sessions are ended at once.
  server_.send_signal(SIGINT);
  if (!server_.wait(std::chrono::seconds{30})) server_.terminate();
}

std::string PostgresServer::url(const std::string& database, const std::string& role) const {
  return fmt::format("postgresql://{}@/{}?host={}&port={}", role, database, folder_.path().string(), port_);
}

std::string PostgresServer::tcp_url(const std::string& database, const std::string& role,
                                    const std::string& options) const {
  return fmt::format("postgresql://{}@localhost:{}/{}?{}", role, port_, database, options);
}

void PostgresServer::sql(const std::string& database, const std::string& statements) {
  must({program("psql").string(), "-q", "-X", "-v", "ON_ERROR_STOP=1", "-c", statements, url(database)});
}

void PostgresServer::make_database(const std::string& name, const std::string& options) {
  sql("postgres", fmt::format("CREATE DATABASE {} {}", name, options));
}

}  // namespace longhaul::testing_support
