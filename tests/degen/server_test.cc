#include "degen/service/server.hh"

#include <gmock/gmock.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "degen/client/client.hh"
#include "tests/degen/recording.hh"

namespace longhaul::degen {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

// A whole service on a socket in a temporary folder; only the kernel is missing.
class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    thread_ = std::jthread{[this] {
      std::vector<std::unique_ptr<Engine>> engines;
      engines.push_back(std::make_unique<test::RecordingEngine>("netem", log_));
      ImpairmentController controller{[] { return test::kSides; }, std::move(engines), directory_};
      Server server{listener_, controller, nullptr};
      server.run(stop_.get());
    }};
  }
  ~ServerTest() override { stop(); }

  void stop() {
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(stop_.get(), &one, sizeof one), 8);
    if (thread_.joinable()) thread_.join();
  }
  Client connect() { return Client::connect(socket_).value(); }
  static Request apply_request(std::int64_t delay) {
    return {.kind = RequestKind::apply, .engine = {}, .parameters = {{"delay", delay}}, .force = {}, .client = "test"};
  }
  // A second client asks until nothing is applied any more.
  bool becomes_clear() {
    auto client = connect();
    for (int i = 0; i < 200; ++i) {
      if (!client.request({.kind = RequestKind::show, .engine = {}, .parameters = {}, .force = {}, .client = {}})
               ->report->impaired)
        return true;
      std::this_thread::sleep_for(5ms);
    }
    return false;
  }

  const test::TemporaryFolder folder_;
  const RunDirectory directory_ = RunDirectory::open(folder_.path()).value();
  const std::string socket_ = folder_.path() + "/degen.sock";
  OwnFd stop_{::eventfd(0, 0)};
  test::Log log_;  // the service's thread writes it; read it after stop()
  Listener listener_{{.path = socket_, .mode = 0600, .group = {}}};
  std::jthread thread_;
};

TEST_F(ServerTest, ServesSeveralRequestsOfAClient) {
  auto client = connect();
  auto reply = client.request(apply_request(5'000'000)).value();
  EXPECT_TRUE(reply.ok && reply.held);
  EXPECT_EQ(reply.report->parameters, (Parameters{{"delay", 5'000'000}}));
  EXPECT_THAT(reply.report->holder, HasSubstr("test (pid " + std::to_string(::getpid())));
  EXPECT_TRUE(client.heartbeat()->held);
  reply = client.request(apply_request(-1)).value();
  EXPECT_FALSE(reply.ok);
  EXPECT_TRUE(client.heartbeat()->held);
}

TEST_F(ServerTest, ALostConnectionClears) {
  {
    auto client = connect();
    ASSERT_TRUE(client.request(apply_request(5'000'000))->ok);
  }
  EXPECT_TRUE(becomes_clear());
}

TEST_F(ServerTest, TheEndOfTheServiceClears) {
  auto client = connect();
  ASSERT_TRUE(client.request(apply_request(5'000'000))->ok);
  stop();
  EXPECT_EQ(log_.events.back(), "netem clear");
  EXPECT_EQ(directory_.read(kOwnershipFile), "");
  EXPECT_FALSE(client.heartbeat());
}

TEST_F(ServerTest, WhoConnectsAgainAndAgainKeepsNobodyOutAndTheHolderIn) {
  auto holder = connect();
  ASSERT_TRUE(holder.request(apply_request(5'000'000))->ok);
  auto first = connect();
  ASSERT_TRUE(first.heartbeat());
  std::vector<Client> idle;
  for (int i = 0; i < 200; ++i) idle.push_back(connect());
  auto newcomer = connect();
  EXPECT_TRUE(newcomer.request({.kind = RequestKind::show})->report->impaired);
  EXPECT_TRUE(holder.heartbeat()->held) << "all are of one process: of the others the oldest goes";
  EXPECT_FALSE(first.heartbeat());
}

TEST_F(ServerTest, ABadMessageGetsAnErrorAndAClosedConnection) {
  for (const std::string& bad : {std::string{"no json"}, std::string{R"({"version":1,"kind":"explode"})"},
                                 std::string{R"({"version":99,"kind":"show"})"}}) {
    auto client = connect();
    const auto frame = encode_frame(bad);
    ASSERT_EQ(::send(client.fd(), frame.data(), frame.size(), 0), static_cast<ssize_t>(frame.size()));
    // The answer to the bad message is the first that comes; then the connection ends.
    const auto reply = client.heartbeat();
    if (reply) {
      EXPECT_FALSE(reply->ok);
      EXPECT_THAT(*reply->error, HasSubstr("bad request"));
    }
    EXPECT_FALSE(client.heartbeat());
  }
  EXPECT_TRUE(connect().heartbeat()->ok);
}

TEST_F(ServerTest, AFrameThatIsTooLongEndsTheConnection) {
  auto client = connect();
  const std::string header{"\x7f\xff\xff\xff", 4};
  ASSERT_EQ(::send(client.fd(), header.data(), 4, 0), 4);
  client.heartbeat();
  EXPECT_FALSE(client.heartbeat());
  EXPECT_TRUE(connect().heartbeat()->ok);
}

TEST_F(ServerTest, TheSocketIsPrivateAndTakenOnce) {
  struct stat status {};
  ASSERT_EQ(::stat(socket_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
  EXPECT_THROW(Listener({.path = socket_, .group = {}}), std::system_error);
}

// Without a client nothing else would wake the service.
TEST(ServerPulse, BeatsThoughNothingHappensAndEndsWithItsGuard) {
  const test::TemporaryFolder folder;
  const auto directory = RunDirectory::open(folder.path()).value();
  Listener listener{{.path = folder.path() + "/s", .mode = 0600, .group = {}}};
  ImpairmentController controller{[] { return test::kSides; }, {}, directory};
  const OwnFd stop{::eventfd(0, 0)};
  const OwnFd guard{::eventfd(0, 0)};
  int beats = 0;
  const auto beat = [&] {
    if (++beats < 3) return;
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(guard.get(), &one, sizeof one), 8);
  };
  Server server{listener, controller, nullptr, {.beat = beat, .guard = guard.get()}};
  EXPECT_THROW(server.run(stop.get()), std::runtime_error);
  EXPECT_EQ(beats, 3);
}

// Out of descriptors it tries again a little later, and does not spin meanwhile.
TEST(ServerAccept, WaitsWhereNoClientCanBeAccepted) {
  const test::TemporaryFolder folder;
  const auto directory = RunDirectory::open(folder.path()).value();
  Listener listener{{.path = folder.path() + "/s", .mode = 0600, .group = {}}};
  ImpairmentController controller{[] { return test::kSides; }, {}, directory};
  const OwnFd stop{::eventfd(0, 0)};
  int beats = 0;
  const auto beat = [&] {
    const std::uint64_t one = 1;
    if (++beats < 6) return;
    EXPECT_EQ(::write(stop.get(), &one, sizeof one), 8);
  };
  Server server{listener, controller, nullptr, {.beat = beat}};
  const auto waiting = Client::connect(listener.path());
  ASSERT_TRUE(waiting);
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const int next = ::dup(0);
  ::close(next);
  const rlimit none{static_cast<rlim_t>(next), before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  const auto begun = std::chrono::steady_clock::now();
  server.run(stop.get());
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 150ms);
}

TEST(ListenerTest, ReplacesASocketThatNobodyListensOn) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() + "/s";
  {
    // A service that was killed leaves its file.
    Listener killed{{.path = path, .group = {}}};
    std::filesystem::rename(path, path + ".kept");
  }
  std::filesystem::rename(path + ".kept", path);
  EXPECT_NO_THROW(Listener({.path = path, .group = {}}));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ListenerTest, LeavesWhatIsNoSocketAlone) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() + "/precious";
  const auto error_of = [&] {
    try {
      const Listener listener{{.path = path, .group = {}}};
    } catch (const std::system_error& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  std::ofstream{path} << "results of a year";
  EXPECT_THAT(error_of(), HasSubstr("there is a regular file, not a socket"));
  EXPECT_EQ(std::filesystem::file_size(path), 17U);
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/nowhere", path);
  EXPECT_THAT(error_of(), HasSubstr("there is a symbolic link"));
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_THAT(error_of(), HasSubstr("there is a directory"));
}

TEST(ClientTest, SaysWhatIsMissing) {
  const auto client = Client::connect("/nonexistent/degen.sock");
  ASSERT_FALSE(client);
  EXPECT_THAT(client.error().message, HasSubstr("degen serve"));
}

}  // namespace
}  // namespace longhaul::degen
