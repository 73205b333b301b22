#include "model/record.hh"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <limits>

#include "model/event.hh"
#include "model/facts.hh"
#include "model/manifest.hh"

namespace longhaul {
namespace {

RunRecord example() {
  Histogram h;
  for (int i = 0; i < 100; ++i) h.record(1'000'000 + i * 10'000);
  NodeRecord node{
      .workload = "latency", .role = Role::client, .parameters = {{"size", Value{64}}, {"op", Value{"write"}}}};
  node.metrics["latency"] = {
      .value = h.quantile(0.5), .samples = h.count(), .distribution = to_data(h), .raw = {1, 2, 3}};
  node.transport = TransportFacts{.transport = "rdma", .provider = "rxe", .device = "rxe_a0"};
  RunRecord run{.run_id = "c/0/0", .cell_id = "c", .workload = "latency", .parameters = {{"delay", Value{5'000'000}}}};
  run.nodes.emplace("client", node);
  run.path = PathRecord{.engine = "netem", .forward = {.asked = 5'000'000}, .back = {.asked = 5'000'000}};
  return run;
}

TEST(Record, GoesThereAndBack) {
  const auto text = to_json(example());
  const auto back = run_record_from_json(text);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), text);
  const auto& metric = back->nodes.at("client").metrics.at("latency");
  const auto histogram = from_data(*metric.distribution);
  ASSERT_TRUE(histogram);
  EXPECT_EQ(histogram->quantile(0.5), metric.value);
}

TEST(Record, NewerSchemaIsRefused) {
  auto run = example();
  run.schema = kRecordSchema + 1;
  const auto refused = run_record_from_json(to_json(run));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("newer"), std::string::npos);
}

TEST(Record, ExtraKeysAndAbsentOptionalsAreFine) {
  const auto facts = node_facts_from_json(
      R"({"hostname":"h","boot_id":"b","kernel":"6.1","cpu_model":"x","cpus":2,"emulated":true,"hypervisor":"tcg","clock_source":"tsc",
          "memory_bytes":1,"longhaul_version":"v","from_the_future":[1,2]})");
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_TRUE(facts->nics.empty());
}

// Records by a host's clock have none, and old records know no such member.
TEST(Record, TheVirtualClockIsOptional) {
  auto run = example();
  EXPECT_EQ(to_json(run).find("virtual_clock"), std::string::npos);
  EXPECT_FALSE(run_record_from_json(to_json(run))->virtual_clock);
  run.virtual_clock = VirtualClock{.shift = 1,
                                   .quantum = 1000,
                                   .qemu = "10.0.2 abc",
                                   .image = "def",
                                   .seed = 18'446'744'073'709'551'615U,
                                   .digest = samples_digest(run)};
  const auto back = run_record_from_json(to_json(run));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->virtual_clock->seed, run.virtual_clock->seed);
  EXPECT_EQ(to_json(*back), to_json(run));

  Manifest manifest{.name = "n"};
  EXPECT_FALSE(manifest_from_json(to_json(manifest))->virtual_clock);
  manifest.virtual_clock =
      VirtualTestbed{.shift = 0, .quantum = 1000, .qemu = "10.0.2 abc", .image = "i", .kernel = "k", .programs = "p"};
  const auto again = manifest_from_json(to_json(manifest));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->virtual_clock->programs, "p");
}

TEST(SamplesDigest, FollowsWhatWasMeasuredAndNothingElse) {
  const auto run = example();
  const auto digest = samples_digest(run);
  EXPECT_EQ(digest.size(), 64U);
  auto other = run;
  other.run_id = "c/1/0";
  other.started = 5;
  other.nodes.at("client").window_start = 7;
  EXPECT_EQ(samples_digest(other), digest);
  other = run;
  other.nodes.at("client").metrics.at("latency").raw.back() += 1;
  EXPECT_NE(samples_digest(other), digest);
  other = run;
  other.nodes.at("client").cpu = CpuUse{.wall = 1};
  EXPECT_NE(samples_digest(other), digest);
  other = run;
  other.nodes["server"] = other.nodes.extract("client").mapped();
  EXPECT_NE(samples_digest(other), digest);
}

// Doubles come back from JSON with another last bit now and then.
TEST(SamplesDigest, StaysThroughTheStore) {
  auto run = example();
  for (int i = 1; i < 2000; ++i)
    run.nodes.at("client").metrics[fmt::format("m{}", i)].value = 1e9 / (i * 1.7320508075688772);
  EXPECT_EQ(samples_digest(*run_record_from_json(to_json(run))), samples_digest(run));
}

TEST(Record, ErrorsNameThePath) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"kind":"redy","time":0})",
       R"(kind: expected one of ready, window_start, window_stop, progress, record, unsupported, failed, got "redy")"},
      {R"({"kind":"ready"})", "time: missing"},
      {R"({"kind":"ready","time":0,"port":70000})", "port: expected an integer in range, got 70000"},
      {R"({"kind":"ready","time":1.5})", "time: expected an integer in range, got 1.5E0"},
      {R"([])", "document: expected an object, got []"},
  };
  for (const auto& [text, message] : cases) {
    const auto refused = bench_event_from_json(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().message, message);
  }
  // Read as infinity, it would be written as what nobody can read: "Infinity" or "1e99999", by the release of Boost.
  const auto endless = bench_event_from_json(R"({"kind":"progress","time":0,"done":1e999})");
  ASSERT_FALSE(endless);
  const boost::json::value infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(endless.error().message, "done: expected a number, got " + boost::json::serialize(infinity));
  EXPECT_FALSE(bench_event_from_json("{"));
}

TEST(Record, DamagedHistogramsAreRefused) {
  EXPECT_FALSE(from_data({.buckets = {1, 2, 3}}));
  EXPECT_FALSE(from_data({.buckets = {99'999'999, 1}}));
}

// A store with one such document could not be read any more.
TEST(Record, WhatIsNoUtf8IsReadBackAsItWas) {
  auto run = example();
  run.message = "got \"Gr\xc3";  // cut within a character
  const auto back = run_record_from_json(to_json(run));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->message, run.message);
  const auto manifest = manifest_from_json(to_json(Manifest{.campaign_text = "description: L\xfc"
                                                                             "beck"}));
  ASSERT_TRUE(manifest) << manifest.error().message;
  EXPECT_EQ(manifest->campaign_text,
            "description: L\xfc"
            "beck");
}

TEST(Manifest, GoesThereAndBack) {
  Manifest manifest{.name = "quick",
                    .seed = 0xffffffffffffffffULL,
                    .cells = {{.cell_id = "c", .workload = "latency", .parameters = {}}}};
  const auto back = manifest_from_json(to_json(manifest));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->seed, manifest.seed);
  EXPECT_EQ(to_json(*back), to_json(manifest));
}

}  // namespace
}  // namespace longhaul
