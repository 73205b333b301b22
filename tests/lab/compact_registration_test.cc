// Registration over real verbs: what it costs, by strategy, and what happens when there is no more to be had.
#include <regex>

#include "tests/lab/compact.hh"

namespace longhaul::testing {
namespace {

namespace json = boost::json;

const std::string kAsUser = "setpriv --reuid 1000 --regid 1000 --clear-groups taskset 1 ";

class Registration : public CompactLab {
 protected:
  /// The workload `registration` on the client; its record.
  static Outcome cost(const std::string& options) {
    return lab().on("client", "taskset 1 longhaul-bench registration --duration 100ms --warmup 20ms --json " + options);
  }
  static json::value cost_record(const std::string& options) {
    const auto outcome = cost(options);
    EXPECT_EQ(outcome.code, 0) << options << ": " << outcome.out << outcome.err;
    return json::parse(outcome.out).at("local");
  }
  static json::value transfer(const std::string& provider, const std::string& options) {
    const auto outcome = by_hand("rendezvous", provider, "--transport rdma --min-samples 100 " + options);
    EXPECT_EQ(outcome.code, 0) << provider << " " << options << ": " << outcome.out << outcome.err;
    return outcome.code == 0 ? json::parse(outcome.out).at("client") : json::value{};
  }
};

TEST_F(Registration, CostsMoreTheLargerTheMemory) {
  for (const std::string device : {"rxe_a0", "siw_a1"}) {
    const auto page = cost_record("--transport rdma --device " + device + " --size 4KiB");
    const auto many = cost_record("--transport rdma --device " + device + " --size 4MiB");
    EXPECT_EQ(page.at("transport").at("device").as_string(), device);
    EXPECT_GT(metric(page, "register"), 0);
    EXPECT_GT(metric(many, "register"), 3 * metric(page, "register")) << device;
  }
}

TEST_F(Registration, AbsentPagesAreFaultedInByIt) {
  const auto present = cost_record("--transport rdma --device rxe_a0 --size 1MiB");
  const auto absent = cost_record("--transport rdma --device rxe_a0 --size 1MiB --pages absent");
  EXPECT_GT(metric(absent, "register"), 1.5 * metric(present, "register"));
  EXPECT_GT(metric(absent, "fault"), metric(absent, "zero"));
  EXPECT_GT(metric(present, "pin"), 0);
  cost_record("--transport rdma --device rxe_a0 --size 1MiB --pages file");
}

// Often: a tracer whose switching patches hot code has hung the emulated machine in one of twenty.
TEST_F(Registration, IsTracedForItsStepsAgainAndAgain) {
  for (int round = 0; round < 6; ++round) {
    for (const std::string device : {"rxe_a0", "siw_a1"}) {
      const auto traced = cost_record("--transport rdma --trace --size 256KiB --device " + device);
      EXPECT_GT(metric(traced, "step_pinning"), 0) << device;
      EXPECT_GT(metric(traced, "step_translating"), 0) << device;
      EXPECT_GT(metric(traced, "step_handing_over"), 0) << device;
    }
  }
  const auto absent = cost_record("--transport rdma --trace --size 256KiB --pages absent --device rxe_a0");
  EXPECT_GT(metric(absent, "step_pinning"), 2 * metric(absent, "step_handing_over")) << "it faults them in";
  const auto stranger = lab().on("client",
                                 "setpriv --reuid 2000 --regid 2000 --clear-groups longhaul-bench registration "
                                 "--transport rdma --device rxe_a0 --trace --duration 50ms --json");
  EXPECT_EQ(stranger.code, 0) << stranger.err;
  EXPECT_NE(stranger.err.find("totals only"), std::string::npos) << stranger.err;
  EXPECT_EQ(stranger.out.find("step_"), std::string::npos);
}

TEST_F(Registration, FastRegistrationInTheKernelIsFaster) {
  const auto ordinary = cost_record("--transport rdma --device rxe_a0 --size 64KiB --method kernel");
  const auto fast = cost_record("--transport rdma --device rxe_a0 --size 64KiB --method kernel_fast");
  EXPECT_GT(metric(ordinary, "register"), metric(fast, "register"));
  EXPECT_GT(metric(cost_record("--transport rdma --device rxe_a0 --size 64KiB --method window"), "register"), 0);
}

TEST_F(Registration, WhatAProviderLacksIsUnsupported) {
  for (const std::string method : {"window", "kernel"}) {
    const auto outcome = cost("--transport rdma --device siw_a1 --method " + method);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(outcome.err.find("unsupported"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("siw"), std::string::npos) << outcome.err;
  }
  const auto nowhere = cost("--transport rdma --device mlx5_7");
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_NE(nowhere.err.find("rxe_a0"), std::string::npos) << "what there is: " << nowhere.err;
}

TEST_F(Registration, HugePagesAreTakenWhereThereAreSome) {
  const auto outcome = cost("--transport rdma --device rxe_a0 --size 8MiB --pages absent --page-size 2MiB");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto too_many = cost("--transport rdma --device rxe_a0 --size 256MiB --pages absent --page-size 2MiB");
  EXPECT_EQ(too_many.code, 1);
  EXPECT_NE(too_many.err.find("vm.nr_hugepages"), std::string::npos) << too_many.err;
}

TEST_F(Registration, TransfersByEveryStrategy) {
  for (const std::string provider : {"rxe", "siw"}) {
    for (const std::string protocol : {"write", "read"}) {
      const auto options = "--reuse httpd --buffers 64 --capacity 1MiB --protocol " + protocol + " --strategy ";
      EXPECT_FALSE(transfer(provider, options + "preregistered").at("metrics").as_object().contains("hit_ratio"));
      const auto each = transfer(provider, options + "each-time");
      EXPECT_EQ(metric(each, "hit_ratio"), 0);
      for (const std::string strategy : {"pin-down", "mrrc", "best"}) {
        const auto cached = transfer(provider, options + strategy);
        EXPECT_GT(metric(cached, "hit_ratio"), 0.2) << provider << " " << strategy;
        EXPECT_GT(metric(cached, "evictions"), 0) << provider << " " << strategy;
        const auto share = [](const json::value& record) {
          const auto& misses = record.at("metrics").at("misses");
          return misses.at("value").to_number<double>() / misses.at("samples").to_number<double>();
        };
        EXPECT_LT(share(cached), 0.8 * share(each)) << provider << " " << strategy;
      }
    }
    transfer(provider, "--protocol read --reuse anywhere --size 64KiB --buffers 16 --strategy mrrc --pipelining");
  }
}

TEST_F(Registration, StreamsRegisterEachMessage) {
  for (const std::string provider : {"rxe", "siw"}) {
    for (const std::string op : {"write", "read"}) {
      const auto outcome =
          by_hand("throughput", provider, "--transport rdma --size 64KiB --strategy each-time --op " + op);
      ASSERT_EQ(outcome.code, 0) << provider << " " << op << ": " << outcome.out << outcome.err;
      EXPECT_GT(metric(json::parse(outcome.out).at("client"), "registering"), 0);
    }
  }
}

// The cache is allowed more than the process may lock: it gives up regions until there is room.
TEST_F(Registration, WithinTheLimitOfLockedMemoryTheCacheMakesRoom) {
  const std::string both =
      "taskset 2 longhaul-bench rendezvous --listen --open --once --bind $LONGHAUL_PEER >/dev/null 2>/tmp/server.log & "
      "p=$!\n" +
      wait_until("ss -Hltn 'sport = :7470' | grep -q .");
  const std::string client =
      kAsUser +
      "longhaul-bench rendezvous --connect $LONGHAUL_PEER --bind $LONGHAUL_ADDR --transport rdma "
      "--protocol write --reuse httpd --buffers 512 --capacity 64MiB --strategy mrrc "
      "--duration 300ms --min-samples 200 --json; e=$?; wait $p; exit $e";
  const auto tight = lab().on("client", both + "ulimit -l 2048; " + client);
  ASSERT_EQ(tight.code, 0) << tight.out << tight.err;
  const auto record = json::parse(tight.out).at("client");
  EXPECT_GT(record.at("transport").at("counters").at("registrations_out_of_memory").to_number<double>(), 0);
  const auto hopeless = lab().on("client", both + "ulimit -l 160; " + client);
  EXPECT_EQ(hopeless.code, 1);
  EXPECT_NE(hopeless.err.find("ulimit -l"), std::string::npos) << hopeless.err;
}

// liblonghaul-cache.so before programs that know nothing of it.
class PreloadedCache : public CompactLab {
 protected:
  static void SetUpTestSuite() {
    CompactLab::SetUpTestSuite();
    lab().install("client", "../lib/liblonghaul-cache.so");  // lands in /lib
  }
  static inline const std::string kCache = "LD_PRELOAD=liblonghaul-cache.so LONGHAUL_CACHE_STATS=1 ";

  /// A server and its client, both preloaded; what they say.
  static std::string both(const std::string& environment, const std::string& server, const std::string& ready,
                          const std::string& client) {
    const auto outcome =
        lab().on("client", "export " + environment + "\ntimeout 60 " + server + " >/tmp/server.out 2>&1 & p=$!\n" +
                               wait_until("LD_PRELOAD= " + ready + " | grep -q .") + "timeout 60 " + client +
                               " 2>&1; e=$?\nwait $p || e=$?\ncat /tmp/server.out; exit $e");
    EXPECT_EQ(outcome.code, 0) << client << ": " << outcome.out << outcome.err;
    return outcome.out;
  }
  /// The number before a word in what the cache tells at the end of a program; 0 where it does not say.
  static int told(const std::string& text, const std::string& before, const std::string& word) {
    std::smatch found;
    return std::regex_search(text, found, std::regex{before + "([0-9]+)" + word}) ? std::stoi(found[1]) : 0;
  }
};

TEST_F(PreloadedCache, ServesAProgramThatRegistersForEachTransfer) {
  const std::string server = "longhaul-bench rendezvous --listen --once --bind $LONGHAUL_PEER";
  const std::string client =
      "longhaul-bench rendezvous --connect $LONGHAUL_PEER --bind $LONGHAUL_ADDR --transport rdma "
      "--size 64KiB --strategy each-time --duration 200ms --protocol ";
  const std::string ready = "ss -Hltn 'sport = :7470'";
  for (const std::string protocol : {"write", "read"}) {
    const auto kept = both(kCache + "LONGHAUL_TOKEN=t LONGHAUL_CACHE_REMOTE=1", server, ready, client + protocol);
    EXPECT_GT(told(kept, "liblonghaul-cache: ", " hits"), 5) << kept;
  }
  const auto passed = both(kCache + "LONGHAUL_TOKEN=t", server, ready, client + "write");
  EXPECT_EQ(told(passed, "liblonghaul-cache: ", " hits"), 0) << "regions for peers are not kept: " << passed;
  EXPECT_GT(told(passed, "remote ", ""), 5) << passed;
}

TEST_F(PreloadedCache, ToolsOfOthersRunAsWithoutIt) {
  for (const std::string& environment : {kCache, kCache + "LONGHAUL_CACHE_REMOTE=1 LONGHAUL_CACHE_REACH=pages"}) {
    const auto pings =
        both(environment, "rping -s -a $LONGHAUL_PEER -C 20 -v -V", "rdma resource show cm_id | grep LISTEN",
             "rping -c -a $LONGHAUL_PEER -I $LONGHAUL_ADDR -C 20 -v -V");
    EXPECT_NE(pings.find("liblonghaul-cache"), std::string::npos) << pings;
    for (const std::string tool : {"ib_write_lat", "ib_write_bw", "ib_send_bw"}) {
      const auto options = " -x 1 -n 200 -F ";
      const auto text = both(environment, tool + options + "-d rxe_b0", "ss -Hltn 'sport = :18515'",
                             tool + options + "-d rxe_a0 $LONGHAUL_PEER");
      EXPECT_NE(text.find("liblonghaul-cache"), std::string::npos) << text;
      EXPECT_EQ(text.find("nothing is kept"), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace longhaul::testing
