// An agent that was started without credentials: it gets them from whoever started it, and ends with that.
#include "agents/enrolment.hh"

#include <fcntl.h>

#include "agents/protocol/enrolment.hh"
#include "common/line_reader.hh"
#include "tests/agents/program.hh"

namespace longhaul::agents {
namespace {

using namespace testing_support;
using ::testing::HasSubstr;

class Enrolment : public Program {
 protected:
  void begin(const std::vector<std::string>& more = {}) {
    auto in = make_pipe(), out = make_pipe();
    std::vector<std::string> command{kProgram, "--enrol", "--node", "n1", "--bench", options_.bench};
    command.insert(command.end(), more.begin(), more.end());
    const OwnFd log{::open(log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
    child_ = Child{
        {.arguments = command, .descriptors = {{in.read_end.get(), 0}, {out.write_end.get(), 1}, {log.get(), 2}}}};
    input_ = std::move(in.write_end);
    output_ = std::move(out.read_end);
    lines_ = LineReader{output_.get()};
  }
  std::string hear() {
    const auto line = lines_.next(20s);
    if (line && *line) return **line;
    ADD_FAILURE() << (line ? "nothing" : line.error().message) << text(log_);
    return "";
  }
  EnrolmentRequest asked() {
    auto request = enrolment_request_from_json(hear());
    EXPECT_TRUE(request);
    return request.value_or(EnrolmentRequest{});
  }
  void say(const std::string& line) { write_all(input_.get(), line + "\n", "answering"); }
  std::string ca() const { return text((pki_ / "ca.pem").string()); }
  void grant(const std::string& name, const std::string& public_key) {
    const auto cert = pki_certify(pki_, {PeerRole::agent, name}, public_key);
    ASSERT_TRUE(cert) << cert.error().message;
    say(to_json(EnrolmentGrant{.ca = ca(), .cert = *cert}));
  }
  /// Its exit code, and what it said.
  std::pair<int, std::string> end() {
    const auto ended = child_.wait(20s);
    return {ended ? ended->code.value_or(-1) : -2, text(log_)};
  }

  const std::string log_ = (directory_.path() / "log").string();
  OwnFd input_, output_;
  LineReader lines_{-1};
  Child child_;
};

TEST_F(Enrolment, GivesAnAgentThatEndsWithWhoStartedIt) {
  options_.bench = hanging_bench();
  begin();
  const auto request = asked();
  EXPECT_EQ(request.node, "n1");
  EXPECT_GT(request.facts.cpus, 0);
  grant("n1", request.public_key);
  const auto ready = enrolment_ready_from_json(hear());
  ASSERT_TRUE(ready);
  // The controller's side of it: a key that was never in a file.
  const auto pair = make_key_pair();
  const auto cert = pki_certify(pki_, {PeerRole::controller, "me"}, pair.public_key);
  ASSERT_TRUE(cert);
  const MemoryCredentials own{ca(), *cert, pair.key};
  const Node there{.name = "n1", .host = "127.0.0.1", .port = ready->port};
  run([&]() -> Awaitable<void> {
    const auto credentials = own.credentials();
    CO_VALUE(controller, co_await Controller::connect(there, credentials));
    CO_VALUE(facts, co_await controller.facts());
    EXPECT_EQ(facts.boot_id, request.facts.boot_id);
    StartRequest server{
        .run_id = "s", .role = Role::server, .workload = "latency", .transport = "tcp", .token = kToken};
    CO_OK(co_await controller.start(server));
    CO_VALUE(listening, co_await controller.next_event("s", 20s));
    const auto workload = static_cast<pid_t>(std::stoi(*listening.bench->message));
    input_.reset();
    const auto after = co_await controller.next_event("s", 20s);
    EXPECT_FALSE(after);
    EXPECT_TRUE(eventually([&] { return !process_exists(workload); }));
  });
  EXPECT_EQ(end().first, 0);
}

TEST_F(Enrolment, WithoutACertificateThereIsNoAgent) {
  begin();
  asked();
  say("nonsense");
  auto [code, said] = end();
  EXPECT_EQ(code, 1);
  EXPECT_THAT(said, HasSubstr("gave no certificate"));

  begin();
  asked();
  input_.reset();
  std::tie(code, said) = end();
  EXPECT_EQ(code, 1);
  EXPECT_THAT(said, HasSubstr("whoever started this agent has ended"));

  begin();
  grant("n2", asked().public_key);
  std::tie(code, said) = end();
  EXPECT_EQ(code, 2);
  EXPECT_THAT(said, HasSubstr("is that of 'n2'"));

  begin();
  asked();
  grant("n1", make_key_pair().public_key);
  std::tie(code, said) = end();
  EXPECT_EQ(code, 2);
  EXPECT_THAT(said, HasSubstr("the key does not belong to"));

  begin({"--ca", "ca.pem"});
  std::tie(code, said) = end();
  EXPECT_EQ(code, 2);
  EXPECT_THAT(said, HasSubstr("--enrol with --ca"));
}

TEST_F(Enrolment, WordsAreCheckedBeforeTheyAreUsed) {
  const auto pair = make_key_pair();
  EXPECT_TRUE(is_enrolment("{}"));
  EXPECT_FALSE(is_enrolment("Welcome to this cluster"));
  const EnrolmentRequest good{.node = "n1", .public_key = pair.public_key, .facts = {}};
  EXPECT_TRUE(enrolment_request_from_json(to_json(good)));
  const auto error = [](EnrolmentRequest request) {
    return enrolment_request_from_json(to_json(request)).error().message;
  };
  auto bad = good;
  bad.node = "n1/../..";
  EXPECT_THAT(error(bad), HasSubstr("node: "));
  bad = good;
  bad.public_key = "key";
  EXPECT_THAT(error(bad), HasSubstr("public_key: expected an object in PEM format"));
  bad.public_key = "-----BEGIN " + std::string(20000, 'x');
  EXPECT_THAT(error(bad), HasSubstr("at most 16384 bytes"));
  EXPECT_FALSE(enrolment_grant_from_json(R"({"ca":"x","cert":"-----BEGIN "})"));
  EXPECT_FALSE(enrolment_grant_from_json(R"({"ca":"-----BEGIN ","cert":"x"})"));
  EXPECT_FALSE(enrolment_ready_from_json(R"({"port":0})"));
  EXPECT_FALSE(enrolment_ready_from_json(R"({"port":65536})"));
  EXPECT_THAT(enrolment_ready_from_json(std::string(kLongestEnrolment + 1, ' ')).error().message,
              HasSubstr("bytes, at most"));
}

}  // namespace
}  // namespace longhaul::agents
