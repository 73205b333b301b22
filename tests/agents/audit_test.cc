// The audit log: its lines, forged content, and full disks.
#include "agents/audit.hh"

#include <signal.h>
#include <sys/stat.h>

#include <boost/json.hpp>

#include "agents/refused_connections.hh"
#include "tests/agents/program.hh"

namespace longhaul::agents {
namespace {

using namespace testing_support;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

namespace json = boost::json;

std::vector<json::object> lines_of(const fs::path& file) {
  std::vector<json::object> all;
  std::ifstream in{file};
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) all.push_back(json::parse(line).as_object());
  return all;
}

std::vector<std::string> kinds_of(const std::vector<json::object>& lines) {
  std::vector<std::string> all;
  for (const auto& line : lines) all.emplace_back(line.at("event").as_string());
  return all;
}

std::string text_of(const json::object& line, const char* member) {
  const auto* value = line.if_contains(member);
  return value != nullptr && value->is_string() ? std::string{value->as_string()} : "";
}

TEST(Audit, Golden) {
  const AuditEvent event{.time = "2026-01-31T23:59:59.001Z",
                         .node = "client",
                         .event = AuditKind::started,
                         .controller = "me",
                         .serial = "4A01",
                         .from = "10.0.0.1:4711",
                         .run = "r/0/client",
                         .arguments = std::vector<std::string>{"/usr/bin/longhaul-bench", "latency", "--connect=-"}};
  EXPECT_EQ(to_line(event),
            R"({"time":"2026-01-31T23:59:59.001Z","node":"client","event":"started","controller":"me","serial":"4A01",)"
            R"("from":"10.0.0.1:4711","run":"r/0/client",)"
            R"("arguments":["/usr/bin/longhaul-bench","latency","--connect=-"]})");
}

TEST(Audit, TimesAreUtcWithMilliseconds) {
  EXPECT_EQ(audit_time(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(audit_time(1'769'903'999'001'999'999), "2026-01-31T23:59:59.001Z");
}

TEST(Audit, NobodyForgesALine) {
  const Directory directory;
  const auto file = directory.path() / "audit";
  auto log = *AuditLog::open(file.string(), "n");
  log.write({.event = AuditKind::refused,
             .run = "a\"}\n{\"event\":\"ended\",\"run\":\"b",
             .reason = std::string("\r\x1b[2J\x7f\xc2\x9b\xe2\x80\xa8\0\xff", 14)});
  const auto text = [&] {
    std::ifstream in{file};
    return std::string{std::istreambuf_iterator<char>{in}, {}};
  }();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
  for (const char c : text) EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << static_cast<int>(c);
  const auto lines = lines_of(file);
  ASSERT_THAT(kinds_of(lines), ElementsAre("opened", "refused"));
  EXPECT_EQ(text_of(lines[1], "run"), "a\"}\n{\"event\":\"ended\",\"run\":\"b");
}

TEST(Audit, IsAppendedToAndNobodyElseReadsIt) {
  const Directory directory;
  const auto file = (directory.path() / "audit").string();
  const auto before = ::umask(0);
  { auto log = *AuditLog::open(file, "n"); }
  ::umask(before);
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0640u);
  auto log = *AuditLog::open(file, "n");
  log.write({.event = AuditKind::connected});
  EXPECT_THAT(kinds_of(lines_of(file)), ElementsAre("opened", "opened", "connected"));
  EXPECT_THAT(AuditLog::open("/no/such/audit", "n").error().message, HasSubstr("--audit /no/such/audit: No such file"));
}

TEST(Audit, AFullDiskIsCounted) {
  auto log = AuditLog::open("/dev/full", "n");
  ASSERT_TRUE(log) << log.error().message;
  for (int i = 0; i < 9; ++i) log->write({.event = AuditKind::connected});
  EXPECT_EQ(log->lost(), 10u) << "with the first, which says that it was opened";
  AuditLog none;
  none.write({.event = AuditKind::connected});
  EXPECT_EQ(none.lost(), 0u);
}

TEST(Audit, SaysWhatWasLostWhenThereIsSpaceAgain) {
  const Directory directory;
  const auto file = directory.path() / "audit";
  fs::create_symlink("/dev/full", file);
  auto log = *AuditLog::open(file.string(), "n");
  log.write({.event = AuditKind::connected});
  fs::remove(file);
  log.reopen();
  log.write({.event = AuditKind::disconnected});
  const auto lines = lines_of(file);
  ASSERT_THAT(kinds_of(lines), ElementsAre("lost", "opened", "disconnected"));
  EXPECT_EQ(lines[0].at("count").to_number<int>(), 2);
  EXPECT_EQ(log.lost(), 0u);
}

TEST(Refusals, AFloodGetsFewLinesAndIsCounted) {
  RefusedConnections meter;
  RefusedConnections::Time now{std::chrono::hours{5}};
  int lines = 0;
  for (int i = 0; i < 1000; ++i) lines += meter.admit(now) ? 1 : 0;
  EXPECT_EQ(lines, RefusedConnections::kPerSecond);
  EXPECT_EQ(meter.admit(now + 1s), 990u);
  EXPECT_EQ(meter.admit(now + 1s), 0u);
}

class Audited : public AgentTest {
 protected:
  Audited() { options_.audit = file_.string(); }
  fs::path file_ = directory_.path() / "audit.jsonl";
};

TEST_F(Audited, ARunFromItsStartToItsEnd) {
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    CO_OK(co_await controller.start(script("one", "crash")));
    (void)co_await events(controller, "one");
    auto unknown = script("two", "good");
    unknown.workload = "rm";
    const auto refused = co_await controller.start(unknown);
    EXPECT_FALSE(refused);
    CO_OK(co_await controller.start(script("three", "stubborn")));
    CO_VALUE(ready, co_await controller.next_event("three", 20s));
    CO_OK(co_await controller.stop("three"));
    CO_OK(co_await controller.start(script("four", "hang")));
    CO_VALUE(another, co_await controller.next_event("four", 20s));
    co_await controller.close();
  });
  ASSERT_TRUE(eventually([&] { return lines_of(file_).size() >= 11; }));
  auto lines = lines_of(file_);
  // The fourth ends because its controller goes; which of the two is written first is not said.
  EXPECT_THAT(kinds_of(lines), ElementsAre("opened", "connected", "started", "ended", "refused", "started", "stopped",
                                           "ended", "started", "disconnected", "ended"));
  for (const auto& line : lines) {
    EXPECT_THAT(text_of(line, "time"), MatchesRegex("....-..-..T..:..:..[.]...Z"));
    EXPECT_EQ(text_of(line, "node"), "node");
    if (text_of(line, "event") == "opened") continue;
    EXPECT_EQ(text_of(line, "controller"), "me");
    EXPECT_THAT(text_of(line, "serial"), MatchesRegex("[0-9A-F]+"));
    EXPECT_THAT(text_of(line, "from"), MatchesRegex("127[.]0[.]0[.]1:[0-9]+"));
  }
  EXPECT_EQ(json::serialize(lines[2].at("arguments")),
            json::serialize(json::array{options_.bench, "script", "--transport=tcp", "--mode=crash"}));
  EXPECT_EQ(text_of(lines[3], "exit"), "exit code 3");
  EXPECT_EQ(text_of(lines[4], "run"), "two");
  EXPECT_THAT(text_of(lines[4], "reason"), HasSubstr("there is no workload 'rm'"));
  EXPECT_EQ(text_of(lines[7], "exit"), "killed by signal 9 (Killed)");
  EXPECT_EQ(text_of(lines[10], "run"), "four");
}

TEST_F(Audited, AStartThatThrowsIsThereToo) {
  options_.bench = "/no/such/bench";
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    const auto started = co_await controller.start(script("one", "good"));
    EXPECT_FALSE(started);
  });
  const auto lines = lines_of(file_);
  ASSERT_THAT(kinds_of(lines), ElementsAre("opened", "connected", "refused"));
  EXPECT_EQ(text_of(lines[2], "run"), "one");
  EXPECT_THAT(text_of(lines[2], "reason"), HasSubstr("executing /no/such/bench"));
}

TEST_F(Audited, StrangersAreRefusedWithTheReason) {
  open_agent();
  const auto other_pki = directory_.path() / "other";
  ASSERT_TRUE(pki_init(other_pki));
  auto stranger = credentials(*pki_issue(other_pki, {PeerRole::controller, "me"}));
  stranger.ca = controller_.ca;
  run([&]() -> Awaitable<void> {
    const auto refused = co_await Controller::connect(node(), stranger);
    EXPECT_FALSE(refused);
  });
  ASSERT_TRUE(eventually([&] { return lines_of(file_).size() >= 2; }));
  const auto lines = lines_of(file_);
  ASSERT_THAT(kinds_of(lines), ElementsAre("opened", "refused"));
  EXPECT_THAT(text_of(lines[1], "reason"), HasSubstr("the peer's certificate"));
  EXPECT_EQ(text_of(lines[1], "controller"), "") << "it has proved no name";
}

TEST_F(Audited, AFullDiskEndsNothing) {
  options_.audit = "/dev/full";
  open_agent();
  run([&]() -> Awaitable<void> {
    CO_VALUE(controller, co_await Controller::connect(node(), controller_));
    CO_OK(co_await controller.start(script("one", "good")));
    (void)co_await events(controller, "one");
  });
}

TEST_F(Program, BeginsANewAuditFileOnSighup) {
  const auto file = directory_.path() / "audit.jsonl";
  const auto moved = directory_.path() / "audit.jsonl.1";
  auto with = arguments();
  with.insert(with.end(), {"--audit", file.string()});
  auto started = start(with);
  ASSERT_NE(port_of(started), 0);
  fs::rename(file, moved);
  started.child.send_signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return !lines_of(file).empty(); }));
  EXPECT_THAT(kinds_of(lines_of(file)), Each(std::string{"opened"}));
  EXPECT_EQ(lines_of(moved).size(), 1u);
  started.child.send_signal(SIGTERM);
  const auto ended = started.child.wait(20s);
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->code, 0) << text(started.log);
}

}  // namespace
}  // namespace longhaul::agents
