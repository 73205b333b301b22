// Transfers over real verbs: each process on each provider, what delays and computations do to it, and ends that fail.
#include "tests/lab/compact.hh"

namespace longhaul::testing {
namespace {

namespace json = boost::json;

bool has(const json::value& record, const char* name) {
  return record.at("metrics").as_object().contains(name);
}

class Transfer : public CompactLab {
 protected:
  static json::value transfer(const std::string& provider, const std::string& options) {
    const auto outcome = by_hand("transfer", provider, "--min-samples 10 " + options);
    EXPECT_EQ(outcome.code, 0) << provider << " " << options << ": " << outcome.out << outcome.err;
    return outcome.code == 0 ? json::parse(outcome.out).at("client") : json::value{};
  }
  static constexpr const char* kBench = "longhaul-bench transfer ";
  static std::string server() {
    return "taskset 2 longhaul-bench transfer --listen --open --bind $LONGHAUL_PEER >/dev/null 2>/tmp/server.log & "
           "p=$!\n" +
           wait_until("ss -Hltn 'sport = :7470' | grep -q .");
  }
  static std::string client(const std::string& options) {
    return "taskset 1 longhaul-bench transfer --connect $LONGHAUL_PEER --bind $LONGHAUL_ADDR --transport rdma " +
           options;
  }
};

TEST_F(Transfer, EveryProcessInBothDirections) {
  for (const std::string provider : {"rxe", "siw"}) {
    for (const std::string direction : {"write", "read"}) {
      for (const std::string protocol : {"typical", "frrwp", "frrwp+crw", "advertised"}) {
        const auto name = provider + " " + direction + " " + protocol;
        const auto record = transfer(provider, "--transport rdma --strategy each-time --size 20000 --direction " +
                                                   direction + " --protocol " + protocol);
        EXPECT_GT(metric(record, "transfer"), metric(record, "critical_path")) << name;
        EXPECT_GT(metric(record, "completion_entry") + metric(record, "wake_up"), 0) << name;
        const bool write = direction == "write";
        const auto* source = write ? "client_registration" : "server_registration";
        EXPECT_GE(metric(record, "critical_path"), metric(record, source)) << name;
        if (protocol == "advertised") {
          EXPECT_FALSE(has(record, write ? "server_registration" : "client_registration")) << name;
          continue;
        }
        // The registrations of both ends overlap, or they do not.
        const bool overlaps = metric(record, "at_client_registered") > metric(record, "at_started");
        if (protocol == "typical") {
          EXPECT_FALSE(overlaps) << name;
        }
        EXPECT_GT(metric(record, "key_exposed"), 0) << name;
      }
      transfer(provider, "--transport tcp --size 20000 --direction " + direction);
    }
  }
}

TEST_F(Transfer, ByEveryStrategyNoKeyOutlivesWhatItMay) {
  for (const std::string strategy : {"preregistered", "pin-down", "mrrc"})
    transfer("rxe",
             "--transport rdma --protocol frrwp --reuse httpd --buffers 64 --capacity 1MiB --strategy " + strategy);
  EXPECT_EQ(lab().must("client", "rdma resource show mr | grep -c 'comm longhaul-bench' || true"), "0\n");
}

TEST_F(Transfer, AnApplicationMaySleepAndAnEngineSpin) {
  transfer("rxe", "--transport rdma --protocol frrwp+crw --strategy each-time --completion event");
  transfer("rxe", "--transport rdma --protocol frrwp+crw --strategy each-time --progress poll");
  transfer("siw", "--transport rdma --protocol frrwp+crw --strategy each-time --direction read --completion event");
}

TEST_F(Transfer, AServerThatCannotRegisterSaysSoAndServesTheNext) {
  const auto outcome = lab().on(
      "client",
      "ulimit -l 2048\n"
      "setpriv --reuid 1000 --regid 1000 --clear-groups " +
          server() + "ulimit -l unlimited 2>/dev/null\n" +
          client("--protocol frrwp+crw --strategy each-time --size 8MiB --duration 200ms 2>/tmp/first.log") +
          "; e=$?\n" + client("--protocol frrwp+crw --strategy each-time --size 4KiB --duration 200ms --json") +
          "; f=$?\nkill $p; wait; cat /tmp/first.log >&2; rdma resource show mr | grep longhaul-bench >&2; "
          "echo \"first $e second $f\" >&2");
  EXPECT_NE(outcome.err.find("first 1 second 0"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("ulimit -l"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("comm longhaul-bench"), std::string::npos) << "no region is left: " << outcome.err;
}

// Between START and STCRW, as far as can be: the delay is long and the server dies in it.
TEST_F(Transfer, APeerThatDiesWhileAWriteIsHeld) {
  applied("--delay 200ms");
  const auto outcome = lab().on(
      "client", server() +
                    client("--protocol frrwp+crw --strategy each-time --size 4KiB --duration 20s 2>/tmp/first.log &") +
                    " c=$!; sleep 4; kill -9 $p; wait $c; e=$?; cat /tmp/first.log >&2; "
                    "rdma resource show mr | grep longhaul-bench >&2; echo \"ended $e\" >&2");
  clear();
  EXPECT_NE(outcome.err.find("ended 1"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("comm longhaul-bench"), std::string::npos) << "no region is left: " << outcome.err;
  const auto usable = transfer("rxe", "--transport rdma --protocol frrwp+crw --strategy each-time");
  EXPECT_GT(metric(usable, "critical_path"), 0);
}

}  // namespace
}  // namespace longhaul::testing
