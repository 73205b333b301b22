// N1 - N11: designs, registration, copies and clients of RPC over RDMA, and what bounds WRITE.
#include <gmock/gmock.h>

#include "tests/results/made_up.hh"

namespace longhaul::results {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kMega = 1e6;

class RpcClaims : public MadeUpCells {
 protected:
  void call(const char* procedure, const char* design, std::int64_t threads, double throughput, Parameters more = {}) {
    more["procedure"] = std::string{procedure};
    if (design != std::string{"read-write"}) more["design"] = std::string{design};
    if (threads != 1) more["threads"] = threads;
    more.try_emplace("size", 32768);
    more.try_emplace("delay", 5'000'000);
    add("rpc", std::move(more), {{"operation", 10 * kMega}, {"throughput", throughput}});
  }
  // READ by both designs with 1 and 8 threads.
  void reads(double one, double eight) {
    for (const auto& [threads, ratio] : {std::pair{1, one}, {8, eight}}) {
      call("read", "read-write", threads, 100 * kMega * threads * ratio);
      call("read", "read-read", threads, 100 * kMega * threads);
    }
  }
  // WRITE of 8 KiB by 16 threads, by server threads or by ord.
  void write(const char* axis, std::int64_t value, double throughput) {
    Parameters more{{"size", 8192}};
    if (axis == std::string{"ord"}) more["serving"] = std::string{"asynchronous"};
    more[axis] = value;
    call("write", "read-write", 16, throughput, std::move(more));
  }
};

TEST_F(RpcClaims, N2HoldsWhereTheLeadShrinksWithThreads) {
  reads(1.47, 1.05 * 1.05);
  EXPECT_EQ(finding("N2").verdict, Verdict::holds);
  EXPECT_EQ(finding("N2").group, "rxe, 5ms, 32KiB");
  EXPECT_THAT(finding("N2").reason, HasSubstr("1.47 at threads 1, 1.1 at threads 8"));
}

TEST_F(RpcClaims, N2DoesNotHoldWhereTripsDecide) {
  reads(2, 2.2);
  EXPECT_EQ(finding("N2").verdict, Verdict::does_not_hold) << "the lead grows";
}

TEST_F(RpcClaims, N2IsUndecidedWhereTheLeadIsNotShownToChange) {
  reads(2, 2);
  EXPECT_EQ(finding("N2").verdict, Verdict::not_decidable);
}

TEST_F(RpcClaims, N2DoesNotHoldWhereReadReadIsAhead) {
  reads(1.5, 0.8);
  EXPECT_EQ(finding("N2").verdict, Verdict::does_not_hold);
}

TEST_F(RpcClaims, N2WantsTwoNumbersOfThreads) {
  call("read", "read-write", 1, 150 * kMega);
  call("read", "read-read", 1, 100 * kMega);
  EXPECT_EQ(finding("N2").verdict, Verdict::not_decidable);
  EXPECT_THAT(finding("N2").reason, HasSubstr("is no course"));
}

TEST_F(RpcClaims, N2SpeaksOfLongRepliesOnly) {
  for (const auto* design : {"read-write", "read-read"}) call("read", design, 1, kMega, {{"size", 1024}});
  EXPECT_THAT(findings("N2"), IsEmpty());
}

TEST_F(RpcClaims, N3HoldsWhereWriteIsTheSame) {
  call("write", "read-write", 1, 100 * kMega);
  call("write", "read-read", 1, 101 * kMega);
  EXPECT_EQ(finding("N3").verdict, Verdict::holds);
}

TEST_F(RpcClaims, N3DoesNotHoldWhereItIsNot) {
  call("write", "read-write", 1, 120 * kMega);
  call("write", "read-read", 1, 100 * kMega);
  EXPECT_EQ(finding("N3").verdict, Verdict::does_not_hold);
}

TEST_F(RpcClaims, N11IsProportionalUpToTheClientsThreads) {
  for (const std::int64_t ord : {1, 2, 4}) write("ord", ord, 10 * kMega * static_cast<double>(ord));
  write("ord", 8, 55 * kMega);  // half of the client's threads: not judged
  EXPECT_EQ(finding("N11").verdict, Verdict::holds);
  EXPECT_THAT(finding("N11").reason, HasSubstr("4 at ord 4"));
  EXPECT_THAT(findings("N11s"), IsEmpty()) << "it does not block";
}

TEST_F(RpcClaims, N11DoesNotHoldWhereReadsWaitForOneAnotherAnyway) {
  write("ord", 1, 10 * kMega);
  write("ord", 2, 10 * kMega);
  write("ord", 4, 10 * kMega);
  EXPECT_EQ(finding("N11").verdict, Verdict::does_not_hold);
}

TEST_F(RpcClaims, N11sIsOfServerThreads) {
  for (const std::int64_t threads : {1, 2, 4})
    write("server_threads", threads, 10 * kMega * static_cast<double>(threads));
  EXPECT_EQ(finding("N11s").verdict, Verdict::holds);
  EXPECT_THAT(findings("N11"), IsEmpty());
}

TEST_F(RpcClaims, N11WantsTwoValues) {
  write("server_threads", 4, 10 * kMega);
  EXPECT_EQ(finding("N11s").verdict, Verdict::not_decidable);
}

// WRITE by the kernel's client to so many of nfsd's threads.
class KernelClaims : public MadeUpCells {
 protected:
  void write(std::int64_t server_threads, double throughput, Parameters more = {}) {
    more["procedure"] = std::string{"write"};
    more["server_threads"] = server_threads;
    for (const auto& [name, value] : {std::pair{"size", 8192}, {"threads", 16}, {"delay", 5'000'000}})
      more.try_emplace(name, value);
    add("nfs", std::move(more), {{"operation", 20 * kMega}, {"throughput", throughput}});
  }
};

TEST_F(KernelClaims, N11kIsOfNfsdsThreads) {
  for (const std::int64_t threads : {1, 2, 4}) write(threads, 6.3 * kMega * static_cast<double>(threads));
  write(8, 40 * kMega);  // half of the client's threads: not judged
  EXPECT_EQ(finding("N11k").verdict, Verdict::holds);
  EXPECT_EQ(finding("N11k").group, "rxe, 5ms, 8KiB");
  EXPECT_THAT(finding("N11k").reason, HasSubstr("2 at server_threads 2, 4 at server_threads 4"));
  EXPECT_THAT(findings("N11s"), IsEmpty()) << "that is of our own server";
}

TEST_F(KernelClaims, N11kDoesNotHoldWhereThreadsDoNotWait) {
  for (const std::int64_t threads : {1, 2, 4}) write(threads, 50 * kMega);
  EXPECT_EQ(finding("N11k").verdict, Verdict::does_not_hold);
}

TEST_F(KernelClaims, N11kWantsTwoNumbersOfThreads) {
  write(4, 25 * kMega);
  EXPECT_EQ(finding("N11k").verdict, Verdict::not_decidable);
}

TEST_F(KernelClaims, N11kSpeaksOfWritesThatAreOneReadOnly) {
  for (const std::int64_t threads : {1, 2, 4}) {
    write(threads, kMega, {{"size", 131072}});
    write(threads, kMega, {{"transfer", 4096}});
    write(threads, kMega, {{"slots", 2}});
    write(threads, kMega, {{"delay", 0}});
  }
  EXPECT_THAT(findings("N11k"), IsEmpty());
}

// Calls by what registers: times for either end's buffers.
class RegistrationOfCalls : public RpcClaims {
 protected:
  void timed(const char* procedure, std::int64_t size, double operation, Parameters more) {
    more["procedure"] = std::string{procedure};
    more["size"] = size;
    more["delay"] = 5'000'000;
    // A payload of so much in such a time.
    add("rpc", std::move(more), {{"operation", operation}, {"throughput", static_cast<double>(size) / operation}});
  }
};

const Parameters kEachTime{{"strategy", std::string{"each-time"}}};
const Parameters kCopied{{"copy", std::string{"client"}}};
const Parameters kServerEachTime{{"server_buffers", std::string{"each-time"}}};

TEST_F(RegistrationOfCalls, N1IsTheCostOfRegistration) {
  for (const std::int64_t size : {8192, 131072}) {
    timed("read", size, 10 * kMega, {});
    timed("read", size, 11 * kMega, kEachTime);
  }
  EXPECT_EQ(finding("N1").verdict, Verdict::holds);
  EXPECT_EQ(finding("N1").group, "rxe read, 5ms");
  timed("read", 524288, 12 * kMega, {});
  timed("read", 524288, 11 * kMega, kEachTime);
  EXPECT_EQ(finding("N1").verdict, Verdict::does_not_hold);
}

TEST_F(RegistrationOfCalls, N5WantsReadToGainMoreThanWrite) {
  const auto both = [&](double read, double write) {
    summary_.cells.clear();
    timed("read", 131072, 10 * kMega, {});
    timed("read", 131072, 10 * kMega * read, kServerEachTime);
    timed("write", 131072, 20 * kMega, {});
    timed("write", 131072, 20 * kMega * write, kServerEachTime);
    return finding("N5").verdict;
  };
  EXPECT_EQ(both(1.8, 1.2), Verdict::holds);
  EXPECT_EQ(both(1.2, 1.8), Verdict::does_not_hold) << "WRITE gains more";
  EXPECT_EQ(both(0.8, 0.7), Verdict::does_not_hold) << "a loss";
  EXPECT_EQ(both(1.2, 1.2), Verdict::not_decidable);
  summary_.cells.resize(2);
  EXPECT_EQ(finding("N5").verdict, Verdict::not_decidable) << "READ alone";
}

TEST_F(RegistrationOfCalls, N5fIsBetweenEachTimeAndNone) {
  const Parameters fast{{"strategy", std::string{"fast"}}};
  const auto between = [&](double windows) {
    summary_.cells.clear();
    for (const std::int64_t size : {8192, 131072}) {
      timed("read", size, 10 * kMega, {});
      timed("read", size, 12 * kMega, kEachTime);
      timed("read", size, windows * kMega, fast);
    }
    return finding("N5f").verdict;
  };
  EXPECT_EQ(between(11), Verdict::holds);
  EXPECT_THAT(finding("N5f").reason, HasSubstr("fast / each-time 0.917 at size 8KiB"));
  EXPECT_EQ(between(13), Verdict::does_not_hold) << "slower than registration";
  EXPECT_EQ(between(9), Verdict::does_not_hold) << "faster than nothing";
  EXPECT_EQ(between(10), Verdict::not_decidable);
  between(11);
  std::erase_if(summary_.cells, [](const CellSummary& cell) {
    return cell.parameters.contains("strategy") && is(cell.parameters, "strategy", "each-time");
  });
  EXPECT_EQ(finding("N5f").verdict, Verdict::not_decidable) << "nothing is registered each time";
}

TEST_F(RegistrationOfCalls, N6IsACrossover) {
  const auto crossing = [&](double small, double large) {
    summary_.cells.clear();
    for (const auto& [size, ratio] : {std::pair<std::int64_t, double>{8192, small}, {524288, large}}) {
      timed("read", size, 10 * kMega * ratio, kCopied);
      timed("read", size, 10 * kMega, kEachTime);
      timed("read", size, 9 * kMega, {});
    }
    return finding("N6").verdict;
  };
  EXPECT_EQ(crossing(0.5, 1.5), Verdict::holds);
  EXPECT_EQ(crossing(0.5, 0.8), Verdict::does_not_hold) << "copying wins everywhere";
  EXPECT_EQ(crossing(1.2, 1.5), Verdict::does_not_hold);
  EXPECT_EQ(crossing(0.5, 1.0), Verdict::not_decidable);
  summary_.cells.resize(3);
  EXPECT_THAT(findings("N6"), IsEmpty()) << "one size is no course";
}

TEST_F(RegistrationOfCalls, N7IsOfTheMix) {
  timed("oltp", 131072, 10 * kMega, {});
  timed("oltp", 131072, 11 * kMega, kServerEachTime);
  EXPECT_EQ(finding("N7").verdict, Verdict::holds);
  EXPECT_THAT(findings("N5"), IsEmpty()) << "that is of READ and WRITE";
  auto threads = kServerEachTime;
  threads["threads"] = 8;
  timed("oltp", 131072, 10 * kMega, {{"threads", 8}});
  timed("oltp", 131072, 9 * kMega, threads);
  EXPECT_EQ(finding("N7").verdict, Verdict::does_not_hold);
}

TEST_F(RegistrationOfCalls, N8IsOneKeyForAllMemory) {
  const Parameters one_key{{"segment", 4096}, {"ord", 8}};
  auto each = kEachTime;
  each["ord"] = 8;
  const auto both = [&](double read, double write) {
    summary_.cells.clear();
    timed("read", 131072, 10 * kMega / read, one_key);
    timed("read", 131072, 10 * kMega, each);
    timed("write", 131072, 20 * kMega / write, one_key);
    timed("write", 131072, 20 * kMega, each);
    return finding("N8").verdict;
  };
  EXPECT_EQ(both(1.2, 0.5), Verdict::holds);
  EXPECT_EQ(both(1.2, 1.2), Verdict::does_not_hold) << "its chunks cost nothing";
  EXPECT_EQ(both(0.9, 0.5), Verdict::does_not_hold);
}

TEST_F(RegistrationOfCalls, N4IsToldButNotDecidedBySoftware) {
  const auto work = [&](const char* design, const char* copy, double nanoseconds) {
    add("rpc",
        {{"procedure", std::string{"read"}},
         {"size", 131072},
         {"design", std::string{design}},
         {"copy", std::string{copy}}},
        {{"client_cpu_per_op", nanoseconds}, {"client_cpu", 100}, {"client_process_polling", 50}});
  };
  work("read-write", "none", 2 * kMega);
  work("read-read", "client", 8 * kMega);
  EXPECT_EQ(finding("N4").verdict, Verdict::holds);
  EXPECT_THAT(finding("N4").reason, HasSubstr("0.25 at threads 1"));
  for (auto& cell : summary_.cells) cell.soft = true;
  EXPECT_EQ(finding("N4").verdict, Verdict::not_decidable);
  summary_.cells.clear();
  work("read-write", "none", 9 * kMega);
  work("read-read", "client", 8 * kMega);
  EXPECT_EQ(finding("N4").verdict, Verdict::does_not_hold);
}

TEST_F(RpcClaims, N10CountsAttacks) {
  const auto attack = [&](const char* design, const char* domain, double successes) {
    add("rpc_attack",
        {{"attack", std::string{"guess"}}, {"design", std::string{design}}, {"domain", std::string{domain}}},
        {{"successes", successes}});
  };
  attack("read-read", "shared", 1);
  EXPECT_EQ(finding("N10").verdict, Verdict::not_decidable) << "Read-Write was not tried";
  attack("read-read", "own", 0);
  attack("read-write", "shared", 0);
  EXPECT_EQ(finding("N10").verdict, Verdict::holds);
  EXPECT_EQ(finding("N10").reason, "successes: 1 by guess (read-read, domain shared)");
  summary_.cells.front().metrics.front().values = {0, 0, 0, 0, 0, 0};
  EXPECT_EQ(finding("N10").verdict, Verdict::does_not_hold) << "nothing succeeds";
  attack("read-write", "shared", 1);
  EXPECT_EQ(finding("N10").verdict, Verdict::does_not_hold);
  summary_.cells.front().metrics.front().values = {1, 1, 1, 1, 1, 1};
  EXPECT_EQ(finding("N10").verdict, Verdict::does_not_hold) << "Read-Write is open, too";
}

TEST_F(RpcClaims, N10WantsNoLateWriteWithoutDeferral) {
  const auto attack = [&](const char* kind, const char* design, std::int64_t deferred, double successes) {
    Parameters parameters{{"attack", std::string{kind}}, {"design", std::string{design}}};
    if (deferred > 0) parameters["deferred"] = deferred;
    add("rpc_attack", std::move(parameters), {{"successes", successes}});
  };
  attack("withhold", "read-read", 0, 8);
  attack("withhold", "read-write", 0, 0);
  attack("late-write", "read-write", 0, 0);
  attack("late-write", "read-write", 8, 8);
  EXPECT_EQ(finding("N10").verdict, Verdict::holds);
  EXPECT_THAT(finding("N10").reason, HasSubstr("8 by late-write (deferred 8)"));
  summary_.cells[2].metrics.front().values = {0, 0, 0, 1, 0, 0};
  EXPECT_EQ(finding("N10").verdict, Verdict::does_not_hold) << "it changed a buffer that should have been closed";
}

TEST_F(RpcClaims, N9dHasAKneeWhereTheCacheIsTooSmall) {
  const auto clients = [&](double one, double four, double eight) {
    summary_.cells.clear();
    for (const auto& [count, rate] : {std::pair{1, one}, {4, four}, {8, eight}}) {
      Parameters more{{"store", std::string{"modelled"}}, {"cache", std::int64_t{1} << 20}};
      if (count > 1) more["clients"] = count;
      call("read", "read-write", 1, rate, std::move(more));
    }
  };
  clients(10 * kMega, 38 * kMega, 20 * kMega);
  EXPECT_EQ(finding("N9d").verdict, Verdict::holds);
  EXPECT_THAT(finding("N9d").reason, HasSubstr("with clients 4 throughput is 3.8 times that of one client"));
  EXPECT_THAT(findings("N9"), IsEmpty()) << "that is of a store in memory";
  clients(10 * kMega, 38 * kMega, 76 * kMega);
  EXPECT_EQ(finding("N9d").verdict, Verdict::does_not_hold) << "all files fit";
  clients(10 * kMega, 9 * kMega, 8 * kMega);
  EXPECT_EQ(finding("N9d").verdict, Verdict::does_not_hold) << "no growth";
}

TEST_F(RpcClaims, N9IsOfSeveralClients) {
  const auto clients = [&](double one, double eight, double sockets) {
    summary_.cells.clear();
    for (const auto& [count, rate, transport] :
         {std::tuple{1, one, "rdma"}, {8, eight, "rdma"}, {1, 80 * kMega, "tcp"}, {8, sockets, "tcp"}}) {
      Parameters more{{"size", 32768}, {"delay", 5'000'000}};
      if (count > 1) more["clients"] = count;
      add("rpc", std::move(more), {{"operation", 10 * kMega}, {"throughput", rate}}, transport).forward.asked =
          5'000'000;
    }
  };
  clients(100 * kMega, 700 * kMega, 300 * kMega);
  EXPECT_EQ(finding("N9").verdict, Verdict::holds);
  EXPECT_THAT(finding("N9").reason,
              HasSubstr("with clients 8 throughput is 7 times that of one client, and 2.33 times that of sockets"));
  clients(100 * kMega, 700 * kMega, 800 * kMega);
  EXPECT_EQ(finding("N9").verdict, Verdict::does_not_hold);
  clients(100 * kMega, 100 * kMega * 0.9, 50 * kMega);
  EXPECT_EQ(finding("N9").verdict, Verdict::does_not_hold) << "more clients gain nothing";
}

}  // namespace
}  // namespace longhaul::results
