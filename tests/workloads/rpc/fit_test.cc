// What the path makes of credits, RDMA reads under way and the longest message.
#include "workloads/protocols/rpc/fit.hh"

#include <gtest/gtest.h>

#include "workloads/protocols/rpc/call.hh"

namespace longhaul::workloads::rpc {
namespace {

using namespace std::chrono_literals;

constexpr double kCopied = 4e9;  // 64 KiB twice: 33 us

Path path_of(Nanoseconds round_trip, std::int64_t bits_per_second = 1'000'000'000, double copied = kCopied) {
  return {.facts = {.round_trip = round_trip, .link = BitRate{bits_per_second}}, .copied = copied};
}

Options calls(nfs::Procedure procedure, std::size_t size, Design design = Design::read_write) {
  Options options;
  options.procedure = procedure;
  options.design = design;
  options.size = size;
  options.threads = 64;
  options.threshold = kUsualInline;
  return options;
}

TEST(RpcFitTest, AMessageIsAsLongAsTheCallWhereCopyingTakesLessThanTheTrip) {
  const auto write = calls(nfs::Procedure::write, 16384);
  const auto threshold = fit_inline(write, path_of(1ms));
  EXPECT_GT(threshold, 16384U);
  EXPECT_LT(threshold, 16384U + 256);
  auto longer = write;
  longer.threshold = threshold;
  EXPECT_FALSE(plan_call(longer.design, shape_of({}, call_of(longer, 1, 0)), threshold).read_chunk)
      << "so that nothing is fetched";
  EXPECT_EQ(fit_inline(write, path_of(5us)), kUsualInline) << "two copies take 8 us";
  EXPECT_GT(fit_inline(write, path_of(10us)), kUsualInline);
  EXPECT_EQ(fit_inline(write, path_of(1ms, 0, 0)), kUsualInline) << "what copying costs is not known";
}

TEST(RpcFitTest, AMessageIsNoLongerThanItGains) {
  EXPECT_EQ(fit_inline(calls(nfs::Procedure::write, 65536), path_of(1s)), kUsualInline) << "longer than the longest";
  EXPECT_EQ(fit_inline(calls(nfs::Procedure::write, 1024), path_of(1s)), kUsualInline) << "it fits as it is";
  EXPECT_EQ(fit_inline(calls(nfs::Procedure::read, 16384), path_of(1s)), kUsualInline) << "a write takes no trip more";
  EXPECT_GT(fit_inline(calls(nfs::Procedure::read, 16384, Design::read_read), path_of(1s)), 16384U);
  EXPECT_EQ(fit_inline(calls(nfs::Procedure::write, 16384, Design::push), path_of(1s)), kUsualInline);
  auto mix = calls(nfs::Procedure::read, 16384);
  mix.mix = true;
  EXPECT_GT(fit_inline(mix, path_of(1s)), 16384U) << "some of its calls are WRITEs";
}

TEST(RpcFitTest, CreditsKeepThePathBusy) {
  // 1 Gbit/s x 2 ms = 250,000 bytes, 30.5 calls of 8 KiB.
  EXPECT_EQ(fit_credits(calls(nfs::Procedure::read, 8192), path_of(2ms)), 31U);
  EXPECT_EQ(fit_credits(calls(nfs::Procedure::write, 8192), path_of(2ms)), 62U) << "two round trips a call";
  EXPECT_EQ(fit_credits(calls(nfs::Procedure::write, 8192, Design::push), path_of(2ms)), 31U);
  EXPECT_EQ(fit_credits(calls(nfs::Procedure::read, 8192, Design::read_read), path_of(2ms)), 62U);
  auto inside = calls(nfs::Procedure::write, 8192);
  inside.threshold = 16384;
  EXPECT_EQ(fit_credits(inside, path_of(2ms)), 31U);
  EXPECT_EQ(fit_credits(calls(nfs::Procedure::read, 8192), path_of(100ms)), 64U) << "no more than threads";
  EXPECT_EQ(fit_credits(calls(nfs::Procedure::read, 1 << 20), path_of(0ms)), 1U);
  EXPECT_EQ(fit_credits(calls(nfs::Procedure::read, 8192), path_of(2ms, 0)), 64U) << "the link's rate is not known";
}

TEST(RpcFitTest, ReadsUnderWayKeepThePathBusyAndHoldUpNoCall) {
  EXPECT_EQ(fit_ord(calls(nfs::Procedure::write, 8192), path_of(2ms)), 31U);
  auto cut = calls(nfs::Procedure::write, 65536);
  cut.segment = 8192;
  EXPECT_EQ(fit_ord(cut, path_of(0ms)), 8U) << "a call's own segments";
  EXPECT_EQ(fit_ord(cut, path_of(2ms)), 31U);
  EXPECT_EQ(fit_ord(cut, path_of(100ms)), kMostReads);
  auto few = calls(nfs::Procedure::write, 8192);
  few.threads = 4;
  EXPECT_EQ(fit_ord(few, path_of(100ms)), 4U) << "no more than threads have";
  EXPECT_EQ(fit_ord(few, path_of(2ms, 0)), 4U) << "the link's rate is not known";
}

}  // namespace
}  // namespace longhaul::workloads::rpc
