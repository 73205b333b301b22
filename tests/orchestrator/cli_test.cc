#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "common/child.hh"
#include "common/version.hh"
#include "orchestrator/cli/ansible.hh"
#include "orchestrator/cli/campaign_run.hh"
#include "orchestrator/cli/directory.hh"
#include "orchestrator/cli/inventory.hh"
#include "orchestrator/events/sinks.hh"
#include "tests/orchestrator/fake.hh"
#include "tests/results/temporary.hh"

namespace longhaul::orchestrator {
namespace {

using ::testing::HasSubstr;

Manifest manifest() {
  Manifest manifest;
  manifest.campaign_text = "text";
  manifest.seed = 7;
  manifest.testbed = testing::FakeTestbed{}.testbed;
  return manifest;
}

TEST(Resume, TakesTheSameCampaignOnTheSameTestbedWhereverItListens) {
  auto testbed = manifest().testbed;
  for (auto& node : testbed.nodes) node.port = static_cast<std::uint16_t>(node.port + 1000);
  testbed.cert = "/elsewhere";
  std::reverse(testbed.nodes.begin(), testbed.nodes.end());
  EXPECT_TRUE(check_resume(manifest(), "text", {}, {testbed}));
  EXPECT_TRUE(check_resume(manifest(), "text", 7, {}));
}

TEST(Resume, RefusesAChangedCampaignSeedOrTestbed) {
  EXPECT_THAT(check_resume(manifest(), "text ", {}, {}).error().message, HasSubstr("its file has changed since"));
  EXPECT_THAT(check_resume(manifest(), "text", 8, {}).error().message, HasSubstr("begun with --seed 7, now it is 8"));
  auto testbed = manifest().testbed;
  testbed.topology = "full";
  EXPECT_THAT(check_resume(manifest(), "text", {}, {testbed}).error().message,
              HasSubstr("begun on topology fake, this testbed is full"));
  testbed = manifest().testbed;
  testbed.nodes[0].attachments.pop_back();
  EXPECT_THAT(check_resume(manifest(), "text", {}, {testbed}).error().message, HasSubstr("begun on another testbed"));
}

TEST(Resume, OfSeveralTestbedsThoseThatAreLeftGoOn) {
  testing::FakeTestbed other;
  other.rename("west-");
  auto begun = manifest();
  begun.further_testbeds = {other.testbed};
  EXPECT_TRUE(check_resume(begun, "text", {}, {other.testbed}));
  EXPECT_TRUE(check_resume(begun, "text", {}, {other.testbed, begun.testbed}));
  EXPECT_FALSE(check_resume(manifest(), "text", {}, {begun.testbed, other.testbed}));
  // And the manifest goes on to name them all.
  const std::string campaign = LONGHAUL_SOURCE_DIR "/campaigns/quick.yaml";
  const auto next = make_manifest({.campaign = campaign, .inventories = {"w.yml"}, .out = "out"}, *read_plan(campaign),
                                  {other.testbed}, begun);
  EXPECT_EQ(next.testbed.nodes.front().name, "west-client");
  ASSERT_EQ(next.testbeds().size(), 2U);
  EXPECT_EQ(next.testbeds().back().nodes.front().name, "client");
  EXPECT_THAT(next.command, HasSubstr("--inventory w.yml --out out"));
}

TEST(Resume, RemembersTheBuildsThatMeasured) {
  EXPECT_EQ(builds_of("", "b"), "b");
  EXPECT_EQ(builds_of("a", "a"), "a");
  EXPECT_EQ(builds_of("a", "b"), "a, then b");
  EXPECT_EQ(builds_of("a, then b", "b"), "a, then b");
  EXPECT_EQ(builds_of("a, then b", "a"), "a, then b, then a");
}

// The program: it is refused for want of an inventory, and has said before that it is another one.
TEST(Resume, SaysThatAnotherBuildBeganIt) {
  const results::TemporaryDirectory scratch;
  const auto out = (scratch.path() / "out").string();
  const std::string campaign = LONGHAUL_SOURCE_DIR "/campaigns/quick.yaml";
  auto manifest = make_manifest({.campaign = campaign, .out = out}, *read_plan(campaign), {}, std::nullopt);
  const auto resume = [&](const std::string& version) {
    manifest.version = version;
    auto store =
        results::Store::open(out, std::filesystem::exists(out) ? results::OpenMode::resume : results::OpenMode::create);
    EXPECT_TRUE(store && store->save_manifest(manifest));
    store = fail("closed");
    std::string errors;
    run_command({LONGHAUL_BINARY_DIR "/bin/longhaul", "run", campaign, "--inventory",
                 (scratch.path() / "none.yml").string(), "--out", out, "--resume"},
                &errors);
    return errors;
  };
  const auto said = resume("0.0.1 (commit 1a2b3c4d)");
  EXPECT_THAT(said, HasSubstr("warning: " + out +
                              ": it was begun with another build of longhaul: 0.0.1 (commit "
                              "1a2b3c4d), then " +
                              version_text()));
  EXPECT_THAT(said, HasSubstr("none.yml"));
  EXPECT_THAT(resume(version_text()), ::testing::Not(HasSubstr("another build")));

  manifest.version = "0.0.1 (commit 1a2b3c4d)";
  const auto next = make_manifest({.campaign = campaign, .out = out}, *read_plan(campaign), {}, manifest);
  EXPECT_EQ(next.version, "0.0.1 (commit 1a2b3c4d), then " + version_text());
}

TEST(Inventory, BecomesJsonWithNumbersTruthAndText) {
  const auto document = yaml_to_json("i.yml", "a: {n: 17, t: true, s: '17', e: 10.0.0.1, l: [x, 2], none: }\n");
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(*document, R"({"a":{"n":17,"t":true,"s":"17","e":"10.0.0.1","l":["x",2],"none":null}})");
}

TEST(Inventory, NamesThePlaceOfAnError) {
  EXPECT_THAT(yaml_to_json("i.yml", "a: 1\nb: [\n").error().message, HasSubstr("i.yml:3:1: "));
  EXPECT_EQ(yaml_to_json("i.yml", "a: 1\na: 2\n").error().message, "i.yml:2:1: key 'a' is given twice");
}

TEST(Inventory, CredentialsAreRelativeToTheFile) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("longhaul-inventory-{}", ::getpid());
  std::filesystem::create_directory(folder);
  const auto path = (folder / "i.yml").string();
  std::ofstream{path}
      << "all:\n  vars: {longhaul_ca: pki/ca.pem, longhaul_cert: /abs/c.pem, longhaul_key: k.pem}\n  children:\n"
         "    clients: {hosts: {a: {ansible_host: 1.2.3.4, longhaul_port: 7471}}}\n"
         "    servers: {hosts: {b: {ansible_host: 1.2.3.5, longhaul_port: 7471}}}\n";
  const auto testbed = load_inventory(path);
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(testbed) << testbed.error().message;
  EXPECT_EQ(testbed->ca, (folder / "pki/ca.pem").string());
  EXPECT_EQ(testbed->cert, "/abs/c.pem");
  EXPECT_EQ(testbed->nodes.size(), 2U);
}

TEST(Inventory, WhatAnsibleListsIsFlattened) {
  const auto document = inventory_from_list(R"({
    "_meta": {"hostvars": {
      "a": {"ansible_host": "192.0.2.1", "ansible_user": "root", "longhaul_port": 7471, "longhaul_ca": "ca.pem",
            "longhaul_emulated": "false", "longhaul_attachments": [{"path": "wan", "netdev": "eth1", "address": "10.0.0.2",
            "device": "rxe0", "provider": "rxe"}]},
      "b": {"longhaul_port": 7471}}},
    "all": {"children": ["ungrouped", "clients", "servers"]},
    "clients": {"children": ["rack1"]}, "rack1": {"hosts": ["a"], "children": ["clients"]},
    "servers": {"hosts": ["b"]}})");
  ASSERT_TRUE(document) << document.error().message;
  const auto testbed = testbed_from_inventory(*document);
  ASSERT_TRUE(testbed) << testbed.error().message;
  ASSERT_EQ(testbed->nodes.size(), 2U);
  EXPECT_EQ(testbed->nodes[0].attachments.at(0).device, "rxe0");
  EXPECT_EQ(testbed->nodes[1].host, "b") << "a host without an address goes by its name";
  EXPECT_EQ(testbed->ca, "ca.pem");
  EXPECT_FALSE(testbed->emulated);
  EXPECT_FALSE(inventory_from_list("[1]"));
}

TEST(Inventory, AnsibleReadsWhatIsNoPlainYaml) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("longhaul-ini-{}", ::getpid());
  std::filesystem::create_directory(folder);
  const auto path = (folder / "hosts.ini").string();
  std::ofstream{path}
      << "[clients]\na ansible_host=192.0.2.1\n[servers]\nb ansible_host=192.0.2.2\n"
         "[all:vars]\nlonghaul_port=7471\nlonghaul_ca=ca.pem\nlonghaul_cert=c.pem\nlonghaul_key=k.pem\n";
  EXPECT_TRUE(needs_ansible(path));
  const auto testbed = load_inventory(path);
  const auto broken = (folder / "broken.ini").string();
  std::ofstream{broken} << "[clients\n";
  const auto refused = load_inventory(broken);
  std::filesystem::remove_all(folder);
  EXPECT_FALSE(refused);
  if (std::system("command -v ansible-inventory >/dev/null 2>&1") != 0) {
    EXPECT_THAT(testbed.error().message, HasSubstr("apt install ansible-core"));
    GTEST_SKIP() << "ansible-core is not installed: only its absence was tested";
  }
  ASSERT_TRUE(testbed) << testbed.error().message;
  EXPECT_EQ(testbed->nodes.size(), 2U);
  EXPECT_EQ(testbed->nodes[0].port, 7471);
  EXPECT_EQ(testbed->key, (folder / "k.pem").string());
}

TEST(Events, JsonLinesAreDocuments) {
  EXPECT_EQ(
      to_json(RunFinished{.run_id = "x/0/1",
                          .cell = "tcp",
                          .status = Status::refused,
                          .message = "why",
                          .metric = "latency",
                          .unit = "ns",
                          .value = {},
                          .done = 3,
                          .remaining = 4,
                          .eta = std::chrono::seconds{2}}),
      R"({"event":"run_finished","run_id":"x/0/1","cell":"tcp","status":"refused","metric":"latency","unit":"ns","done":3,"remaining":4,"eta":2000000000,"message":"why"})");
}

TEST(Events, SpansReadAsPeopleSayThem) {
  using std::chrono::seconds;
  EXPECT_EQ(format_span(seconds{7}), "7 s");
  EXPECT_EQ(format_span(seconds{247}), "4:07 min");
  EXPECT_EQ(format_span(seconds{3723}), "1:02:03 h");
  EXPECT_EQ(format_measure(1'234'500, "ns"), "1234.5 us");
  EXPECT_EQ(format_measure(1'234'500, "bit/s"), "1.2 Mbit/s");
  EXPECT_EQ(format_measure(0.25, "1"), "0.25");
}

TEST(Events, PlainTextKeepsWarningsAndEveryFailureAndSomeProgress) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* out = ::open_memstream(&text, &size);
  {
    auto sink = make_text_sink(out, false, std::chrono::seconds{3600});
    sink->on(StepEvent{"booting"});
    sink->on(WarningEvent{"careful"});
    for (int i = 1; i <= 3; ++i)
      sink->on(RunFinished{.run_id = "",
                           .cell = "tcp delay 5ms",
                           .status = i == 2 ? Status::failed : Status::ok,
                           .message = "as told",
                           .metric = "latency",
                           .unit = "ns",
                           .value = 5'100'000.0,
                           .done = i,
                           .remaining = 8 - i,
                           .eta = std::chrono::seconds{9}});
    sink->on(CampaignFinished{.cells = {{Status::ok, 4}},
                              .unfinished = 0,
                              .runs = 8,
                              .wall = std::chrono::seconds{100},
                              .measuring = std::chrono::seconds{71},
                              .interrupted = false,
                              .directory = "out"});
    sink->on(CampaignFinished{.cells = {{Status::ok, 1}},
                              .unfinished = 3,
                              .runs = 2,
                              .wall = std::chrono::seconds{100},
                              .measuring = std::chrono::seconds{71},
                              .interrupted = true,
                              .directory = "out"});
  }
  std::fclose(out);
  EXPECT_EQ(std::string(text, size),
            "booting\nwarning: careful\n 12% 1/8 runs, 9 s left  tcp delay 5ms latency 5100.0 us\nfailed tcp delay "
            "5ms: as told\n"
            "8 runs in 1:40 min, 71 % of it measuring; cells: 4 ok\n"
            "interrupted: 2 runs in 1:40 min, 71 % of it measuring; cells: 1 ok, 3 not finished\n"
            "what is finished is kept in out; --resume goes on\n");
  std::free(text);
}

// Messages and names come from nodes.
TEST(Events, ATerminalObeysNobodysWordsButOurs) {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* out = ::open_memstream(&text, &size);
  {
    auto sink = make_text_sink(out, true);
    sink->on(RunStarted{.cell = "tcp\x1b[2J\nforged", .repetition = 0, .attempt = 0});
    sink->on(RunFinished{.run_id = "",
                         .cell = "tcp",
                         .status = Status::failed,
                         .message = "server: \x1b]0;owned\x07\nwarning: forged",
                         .metric = "latency",
                         .unit = "ns",
                         .value = {},
                         .done = 1,
                         .remaining = 1,
                         .eta = std::chrono::seconds{9}});
  }
  std::fclose(out);
  EXPECT_EQ(std::string(text, size),
            "tcp\\x1b[2J\r\033[Kfailed tcp: server: \\x1b]0;owned\\x07\n    warning: forged\n");
  std::free(text);
}

}  // namespace
}  // namespace longhaul::orchestrator
