// N2, N3, N11: Read-Write against Read-Read, and what bounds WRITE.
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

}  // namespace
}  // namespace longhaul::results
