// RPC over RDMA over real verbs: each procedure by both designs on each provider, attacks, and ends that fail.

#include "tests/lab/compact.hh"

namespace longhaul::testing {
namespace {

namespace json = boost::json;

class Rpc : public CompactLab {
 protected:
  // Both ends' records.
  static json::value call(const std::string& provider, const std::string& options) {
    return records("rpc", provider, "--min-samples 10 " + options);
  }
  static std::string server() {
    return "taskset 2 longhaul-bench rpc --listen --open --bind $LONGHAUL_PEER >/dev/null 2>/tmp/server.log & p=$!\n" +
           wait_until("ss -Hltn 'sport = :7470' | grep -q .");
  }
  static std::string client(const std::string& options) {
    return "taskset 1 longhaul-bench rpc --connect $LONGHAUL_PEER --bind $LONGHAUL_ADDR --transport rdma " + options;
  }
};

// Seven connections of siw with the default's credits: the seventh's queue begins where libsiw sees no queue
// (siw_keys.hh).
TEST_F(Rpc, SevenClientsOfOneServer) {
  for (const std::string provider : {"siw", "rxe"}) {
    const auto both = call(provider, "--transport rdma --clients 7 --procedure read --size 20000 --duration 50ms");
    EXPECT_GT(metric(both.at("client"), "throughput"), 0) << provider;
  }
}

TEST_F(Rpc, EveryProcedureByBothDesigns) {
  for (const std::string provider : {"rxe", "siw"}) {
    for (const std::string design : {"read-write", "read-read"}) {
      for (const std::string procedure : {"null", "read", "write", "readdir", "readlink"}) {
        const std::string size = procedure == "readlink" ? "4000" : "20000";
        const auto name = provider + " " + design + " " + procedure;
        const auto both = call(provider, "--transport rdma --threads 3 --inline 1KiB --segment 8KiB --design " +
                                             design + " --procedure " + procedure + " --size " + size);
        const bool fetched = procedure == "write" || (design == "read-read" && procedure != "null");
        EXPECT_EQ(metric(both.at("client"), "trips"), fetched ? 4 : 2) << name;
        EXPECT_EQ(metric(both.at("server"), "reachable") > 0, fetched && procedure != "write") << name;
        EXPECT_EQ(metric(both.at("server"), "blocked") > 0, procedure == "write") << name;
      }
    }
    // A slot of the server's is there from the second call on: the warm-up has the first, however short it is.
    for (const std::string buffers : {"preregistered", "each-time"}) {
      const auto both =
          call(provider,
               "--transport rdma --threads 3 --warmup 1us --inline 1KiB --segment 8KiB --design push --procedure write "
               "--size 20000 --server-buffers " +
                   buffers);
      EXPECT_EQ(metric(both.at("client"), "trips"), 2) << provider << " " << buffers;
      EXPECT_EQ(metric(both.at("server"), "blocked"), 0) << "no RDMA read";
    }
    for (const std::string size : {"20000", "64KiB"}) {
      const auto both = call(provider, "--transport rdma --threads 3 --calls long --procedure write --size " + size);
      EXPECT_EQ(metric(both.at("client"), "trips"), 4) << provider << " RDMA_NOMSG " << size;
    }
    for (const std::string procedure : {"read", "write"})
      call(provider, "--transport tcp --threads 3 --size 20000 --procedure " + procedure);
  }
}

TEST_F(Rpc, BuffersOfEitherEndAreRegisteredByTheStrategy) {
  for (const std::string strategy : {"each-time", "mrrc"})
    call("rxe", "--transport rdma --size 20000 --server-buffers each-time --strategy " + strategy);
  EXPECT_EQ(lab().must("client", "rdma resource show mr | grep -c 'comm longhaul-bench' || true"), "0\n");
}

TEST_F(Rpc, WindowsOpenABufferForACall) {
  for (const std::string procedure : {"read", "write", "readdir"}) {
    for (const std::string design : {"read-write", "read-read"})
      call("rxe", "--transport rdma --threads 3 --size 20000 --strategy fast --server-buffers fast --procedure " +
                      procedure + " --design " + design);
    call("rxe", "--transport rdma --threads 3 --size 20000 --strategy fast --deferred 5 --procedure " + procedure);
  }
  call("rxe",
       "--transport rdma --threads 3 --size 20000 --strategy fast --server-buffers fast --design push "
       "--procedure write");
  // Closed by the server's reply, each of them; pushed payloads by the client.
  for (const std::string options : {"read", "write", "readdir", "read --design push --ahead 7"}) {
    const auto both = call("rxe",
                           "--transport rdma --threads 3 --size 20000 --strategy fast --invalidation remote "
                           "--procedure " +
                               options);
    EXPECT_EQ(metric(both.at("client"), "closed_by_peer"), 1) << options;
  }
  const auto lacking = by_hand("rpc", "siw", "--transport rdma --strategy fast");
  EXPECT_EQ(lacking.code, 1);
  EXPECT_NE(lacking.err.find("(siw) has no memory windows of type 2B"), std::string::npos) << lacking.err;
}

TEST_F(Rpc, ThePathDecidesWhatIsLeftToIt) {
  applied("--delay 20ms");
  const std::string options = "--transport rdma --size 16KiB --threads 3 --procedure write --duration 200ms";
  const auto both = call("siw", options + " --inline 0 --ord 0 --credits 0");
  const auto usual = call("siw", options);
  clear();
  const auto& chosen = both.at("client");
  EXPECT_EQ(metric(chosen, "trips"), 2) << "nothing is fetched";
  EXPECT_GT(metric(chosen, "chosen_inline"), 16384);
  EXPECT_EQ(metric(chosen, "chosen_credits"), 3) << "a call of each thread";
  EXPECT_EQ(metric(chosen, "chosen_ord"), 3);
  EXPECT_LT(metric(both.at("server"), "pinned"), metric(usual.at("server"), "pinned"));
  EXPECT_EQ(metric(usual.at("client"), "trips"), 4);
  EXPECT_EQ(usual.at("client").at("metrics").as_object().contains("chosen_inline"), false);
  const auto short_message = by_hand("rpc", "siw", "--transport rdma --inline 512");
  EXPECT_EQ(short_message.code, 2);
  EXPECT_NE(short_message.err.find("--inline 512: a message has at least 1KiB"), std::string::npos)
      << short_message.err;
}

// What a hostile client gets at: counted.
TEST_F(Rpc, AttacksSucceedOnReadReadOnly) {
  const auto successes = [](const std::string& provider, const std::string& options) {
    const auto outcome =
        by_hand("rpc_attack", provider, "--transport rdma --min-samples 5 --duration 300ms " + options);
    EXPECT_EQ(outcome.code, 0) << provider << " " << options << ": " << outcome.out << outcome.err;
    if (outcome.code != 0) return -1.0;
    const auto both = json::parse(outcome.out);
    const auto& counts = both.at(options.find("withhold") == std::string::npos ? "client" : "server");
    return metric(counts, "successes");
  };
  for (const std::string provider : {"rxe", "siw"}) {
    EXPECT_EQ(successes(provider, "--attack withhold --tries 20 --design read-read"), 8) << "twice its credits";
    EXPECT_EQ(successes(provider, "--attack withhold --tries 20 --design read-write"), 0);
    EXPECT_EQ(successes(provider, "--attack withhold --tries 20 --design read-read --give-back 100ms"), 0);
  }
  for (const std::string attack : {"flood", "mislead", "stall"})
    EXPECT_EQ(successes("rxe", "--tries 20 --attack " + attack), 0) << "the honest client is served";
  // Of a key that is known but for its last byte one of 256 is right: where the key is good, and the right is there.
  EXPECT_EQ(successes("rxe", "--design read-read"), 1);
  EXPECT_EQ(successes("rxe", "--design read-read --domain own"), 0);
  EXPECT_EQ(successes("rxe", "--design read-write"), 0);
  // The last byte of siw's keys is 0. It answers a read of memory that was registered without that right (Linux 6.1:
  // siw_qp_sq_proc_tx() asks for none), so there the protection domain alone protects.
  EXPECT_EQ(successes("siw", "--tries 1 --design read-read"), 1);
  EXPECT_EQ(successes("siw", "--tries 1 --design read-write"), 1) << "siw's fault: told in docs/rpc.md";
  EXPECT_EQ(successes("siw", "--tries 1 --design read-write --domain own"), 0);
}

// A write after the reply gets at what is not deregistered yet. The path is long: without delay the write would come
// while the batch is deregistered, whose last region is the one that it goes to.
TEST_F(Rpc, LateWritesGetAtDeferredRegionsOnly) {
  applied("--delay 20ms");
  for (const std::string provider : {"rxe", "siw"}) {
    for (const auto& [options, wanted] : {std::pair{"--design read-write", 0.0},
                                          {"--design read-write --deferred 4", 4.0},
                                          {"--design read-read --deferred 4", 0.0}}) {
      const auto outcome = by_hand(
          "rpc_attack", provider,
          "--transport rdma --min-samples 5 --duration 300ms --attack late-write --tries 20 " + std::string{options});
      ASSERT_EQ(outcome.code, 0) << provider << " " << options << ": " << outcome.out << outcome.err;
      EXPECT_EQ(metric(json::parse(outcome.out).at("client"), "successes"), wanted) << provider << " " << options;
    }
  }
  clear();
}

// An honest client whose call has no answer is what the attack was for: counted, and no error. The server stands still
// here, in the middle of tries that take 0.4 s each over siw.
TEST_F(Rpc, AnAttackThatDeniesTheServiceIsCounted) {
  const auto outcome = lab().on(
      "client",
      "longhaul-bench rpc_attack --listen --open --under-test --bind $LONGHAUL_PEER_SIW >/dev/null 2>/tmp/server.log & "
      "p=$!\n" +
          wait_until("ss -Hltn 'sport = :7470' | grep -q .") +
          "longhaul-bench rpc_attack --connect $LONGHAUL_PEER_SIW --bind $LONGHAUL_ADDR_SIW --transport rdma "
          "--attack mislead --design read-write --tries 60 --timeout 2s --duration 50ms --json >/tmp/denied.json & "
          "c=$!\n"
          "sleep 8; kill -STOP $p; sleep 6; kill -CONT $p; wait $c; e=$?\n"
          "cat /tmp/denied.json; kill $p; wait; exit $e");
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  const auto both = json::parse(outcome.out);
  EXPECT_EQ(metric(both.at("client"), "successes"), 1) << outcome.out;
  EXPECT_EQ(both.at("client").at("metrics").as_object().count("operation"), 0U) << "no call of that client ended";
}

TEST_F(Rpc, AnEndThatIsKilledIsNamedAndTheNextClientIsServed) {
  const auto outcome = lab().on("client", server() + client("--duration 60s --procedure write --size 64KiB") +
                                              " >/dev/null 2>/tmp/killed.log & c=$!\nsleep 3; kill -9 $c; wait $c\n" +
                                              client("--size 64KiB >/dev/null") + " || exit 3\n" +
                                              client("--duration 60s --procedure write") +
                                              " >/dev/null 2>/tmp/lost.log & c=$!\nsleep 3; kill -9 $p; wait $c; "
                                              "echo $?; cat /tmp/lost.log");
  EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.out.substr(0, 2), "1\n") << outcome.out;
  EXPECT_GT(outcome.out.size(), 10U) << "the client says why";
}

}  // namespace
}  // namespace longhaul::testing
