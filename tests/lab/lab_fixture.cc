#include "tests/lab/lab_fixture.hh"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "common/error.hh"

namespace longhaul::testing {
namespace {

std::string drain(int fd) {
  std::string text;
  char buffer[4096];
  ::lseek(fd, 0, SEEK_SET);
  for (;;) {
    const auto n = ::read(fd, buffer, sizeof buffer);
    if (n <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
  }
}

OwnFd temporary_file() {
  char name[] = "/tmp/longhaul-test-XXXXXX";
  OwnFd fd{check(::mkostemp(name, O_CLOEXEC), "creating a temporary file")};
  ::unlink(name);
  return fd;
}

Outcome run(const std::vector<std::string>& arguments, const std::string& input_file = "/dev/null",
            const std::vector<std::string>& environment = {}, std::chrono::minutes limit = std::chrono::minutes{30}) {
  const OwnFd in{check(::open(input_file.c_str(), O_RDONLY | O_CLOEXEC), "opening " + input_file)};
  const auto out = temporary_file();
  const auto err = temporary_file();
  Child child{{.arguments = arguments,
               .descriptors = {{in.get(), 0}, {out.get(), 1}, {err.get(), 2}},
               .environment = environment}};
  const auto ended = child.wait(limit);
  if (!ended)
    throw std::runtime_error(fmt::format("{} does not end in {} min", fmt::join(arguments, " "), limit.count()));
  return {.code = ended->code ? *ended->code : 128 + ended->signal.value_or(0),
          .out = drain(out.get()),
          .err = drain(err.get())};
}

// In brackets, so that the search does not find itself.
std::string search(const std::string& text) {
  return fmt::format("ps -o pid,args | grep '[{}]{}' | grep -v 'sh -c' | awk '{{print $1}}'", text.front(),
                     text.substr(1));
}

}  // namespace

std::string bin(const std::string& program) {
  return std::string{LONGHAUL_BINARY_DIR} + "/bin/" + program;
}

Outcome run_program(const std::vector<std::string>& arguments, const std::vector<std::string>& environment) {
  return run(arguments, "/dev/null", environment);
}

Outcome longhaul(const std::vector<std::string>& arguments) {
  auto all = arguments;
  all.insert(all.begin(), bin("longhaul"));
  return run(all);
}

Child start_longhaul(const std::vector<std::string>& arguments, const std::filesystem::path& log) {
  auto all = arguments;
  all.insert(all.begin(), bin("longhaul"));
  const OwnFd in{check(::open("/dev/null", O_RDONLY | O_CLOEXEC), "opening /dev/null")};
  const OwnFd out{
      check(::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), "opening " + log.string())};
  return Child{{.arguments = all, .descriptors = {{in.get(), 0}, {out.get(), 1}, {out.get(), 2}}}};
}

BootedLab::BootedLab(const std::string& topology, const std::vector<std::string>& more) {
  static int number = 0;
  name_ = fmt::format("test-{}-{}-{}", topology, ::getpid(), ++number);
  std::vector<std::string> command{"lab", "up", "--name", name_, "--topology", topology, "--json"};
  command.insert(command.end(), more.begin(), more.end());
  const auto up = longhaul(command);
  if (up.code != 0) throw std::runtime_error("lab up failed: " + up.out + up.err);
  inventory_ = boost::json::value_to<std::string>(boost::json::parse(up.out).at("inventory"));
}

// A failure may have its cause in the guest (a stall, memory that ran out): only its console tells, and that goes with
// the lab.
void BootedLab::show_consoles() const {
  const auto status = longhaul({"lab", "status", "--json"});
  if (status.code != 0) return;
  const auto known = boost::json::parse(status.out);
  for (const auto& lab : known.at("labs").as_array()) {
    if (lab.at("name").as_string() != name_) continue;
    for (const auto& machine : lab.at("machines").as_array()) {
      const auto text = read_file(std::string{machine.at("console").as_string()});
      constexpr std::size_t kShown = 8000;
      fmt::print("the console of VM {} said last:\n{}\n", std::string{machine.at("name").as_string()},
                 text.substr(text.size() - std::min(text.size(), kShown)));
    }
  }
}

bool BootedLab::answers() const {
  const OwnFd nothing{check(::open("/dev/null", O_RDWR | O_CLOEXEC), "opening /dev/null")};
  Child child{{.arguments = {bin("longhaul"), "lab", "exec", "--name", name_, "router", "--", "true"},
               .descriptors = {{nothing.get(), 0}, {nothing.get(), 1}, {nothing.get(), 2}}}};
  const auto ended = child.wait(std::chrono::seconds{30});
  return ended && ended->ok();
}

BootedLab::~BootedLab() {
  if (::testing::UnitTest::GetInstance()->Failed()) show_consoles();
  const auto down = longhaul({"lab", "down", "--name", name_});
  if (down.code != 0) ADD_FAILURE() << "lab down: " << down.err;
}

Outcome BootedLab::on(const std::string& node, const std::string& script) const {
  // A VM that stands still keeps the connection.
  return run({bin("longhaul"), "lab", "exec", "--name", name_, node, "--", "sh", "-c", script}, "/dev/null", {},
             std::chrono::minutes{3});
}

std::string BootedLab::must(const std::string& node, const std::string& script) const {
  const auto outcome = on(node, script);
  if (outcome.code != 0)
    ADD_FAILURE() << node << ": " << script << "\nexit code " << outcome.code << "\n" << outcome.out << outcome.err;
  return outcome.out;
}

void end_if_gone(std::unique_ptr<BootedLab>& lab) {
  if (lab->answers()) return;
  lab.reset();
  fmt::print("the lab answers no more: its other tests are not run\n");
  std::fflush(stdout);
  std::_Exit(EXIT_FAILURE);
}

bool holds_within(std::chrono::seconds limit, const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
  return true;
}

std::string wait_until(const std::string& condition) {
  return fmt::format("for i in $(seq 50); do {} && break; sleep 0.1; done\n", condition);
}

std::string BootedLab::processes(const std::string& node, const std::string& text) const {
  return must(node, search(text));
}

bool BootedLab::signal(const std::string& node, const std::string& signal, const std::string& text) const {
  const auto found = fmt::format("p=$({}); [ -n \"$p\" ] && kill -{} $p && exit 0", search(text), signal);
  return on(node, wait_until(found) + "exit 1").code == 0;
}

void BootedLab::install(const std::string& node, const std::string& program) const {
  const auto copied = run({bin("longhaul"), "lab", "exec", "--name", name_, node, "--", "sh", "-c",
                           fmt::format("cat >/tmp/{0} && chmod +x /tmp/{0}", program)},
                          bin(program));
  if (copied.code != 0) throw std::runtime_error("copying " + program + " into the lab: " + copied.err);
}

TemporaryDirectory::TemporaryDirectory() {
  char name[] = "/tmp/longhaul-test-XXXXXX";
  if (::mkdtemp(name) == nullptr) throw_errno("creating a temporary directory");
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in{path};
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out{path};
  out << text;
}

std::vector<std::map<std::string, std::string>> read_csv(const std::filesystem::path& path) {
  const auto text = read_file(path);
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
        rows.back().back() += c;
        ++i;
      } else if (c == '"') {
        quoted = false;
      } else {
        rows.back().back() += c;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      rows.back().emplace_back();
    } else if (c == '\n') {
      rows.emplace_back(1);
    } else if (c != '\r') {
      rows.back().back() += c;
    }
  }
  rows.pop_back();  // after the last newline
  std::vector<std::map<std::string, std::string>> result;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    std::map<std::string, std::string> row;
    for (std::size_t column = 0; column < rows[0].size() && column < rows[i].size(); ++column)
      row[rows[0][column]] = rows[i][column];
    result.push_back(std::move(row));
  }
  return result;
}

std::vector<std::map<std::string, std::string>> read_csv(const std::filesystem::path& path, const std::string& metric) {
  auto rows = read_csv(path);
  std::erase_if(rows, [&](const auto& row) { return row.at("metric") != metric; });
  return rows;
}

std::vector<std::map<std::string, std::string>> compare_latencies(const BootedLab& lab) {
  const TemporaryDirectory directory;
  const auto campaign = directory.path() / "campaign.yaml";
  write_file(campaign, R"(name: latencies
workload: latency
series:
  - {transport: rdma, provider: rxe}
  - {transport: rdma, provider: siw}
  - {transport: tcp, rival: rxe}
axes: {delay: [0, 50ms]}
fixed: {duration: 300ms, completion: event, op: send}
repeat: {min: 2, max: 2}
)");
  const auto out = directory.path() / "out";
  const auto run = longhaul({"run", campaign, "--inventory", lab.inventory(), "--out", out});
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  return read_csv(out / "cells.csv", "latency");
}

}  // namespace longhaul::testing
