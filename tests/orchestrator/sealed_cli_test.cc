#include "orchestrator/cli/sealed.hh"

#include <gmock/gmock.h>

#include <thread>

#include "common/child.hh"

namespace longhaul::orchestrator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refusal(const ClockQuestion& question) {
  const auto clock = settle_clock(question);
  EXPECT_FALSE(clock) << *clock;
  if (clock) return "";
  EXPECT_EQ(clock.error().exit_code, ExitCode::usage);
  return clock.error().message;
}

TEST(SettleClock, TakesWhatWasAskedFor) {
  EXPECT_EQ(settle_clock({.asked = "virtual", .lab = true}), "virtual");
  EXPECT_EQ(settle_clock({.asked = "virtual", .lab = true, .topology = "compact"}), "virtual");
  EXPECT_EQ(settle_clock({.asked = "virtual", .lab = true, .topology = "automatic"}), "virtual");
  EXPECT_EQ(settle_clock({.asked = "host", .lab = true, .topology = "full"}), "host");
  EXPECT_EQ(settle_clock({.asked = "host", .lab = false}), "host");
}

TEST(SettleClock, WithoutAWordThatDependsOnTheMachineOnlyForALabOfOneMachine) {
  EXPECT_EQ(settle_clock({.lab = true, .topology = "automatic"}), "");
  EXPECT_EQ(settle_clock({.lab = true, .topology = "compact"}), "");
  EXPECT_EQ(settle_clock({.lab = true, .topology = "full"}), "host");
  EXPECT_EQ(settle_clock({.lab = true, .topology = "systems"}), "host");
  EXPECT_EQ(settle_clock({.lab = false}), "host");
}

TEST(SettleClock, GoesOnByTheClockThatItWasBegunBy) {
  for (const std::string begun : {"host", "virtual"}) {
    EXPECT_EQ(settle_clock({.lab = true, .topology = "automatic", .begun = begun}), begun);
    EXPECT_EQ(settle_clock({.asked = begun, .lab = true, .begun = begun}), begun);
  }
  EXPECT_EQ(settle_clock({.lab = false, .begun = "host"}), "host");
  EXPECT_EQ(settle_clock({.lab = true, .topology = "full", .begun = "host"}), "host");
}

TEST(Repeated, MakesAllRunsOnceBeforeAnyIsMadeAgain) {
  const PlannedRun one{.cell = 0, .repetition = 1}, other{.cell = 3, .repetition = 0, .attempt = 2};
  EXPECT_THAT(repeated({one, other}, 3), ElementsAre(one, other, one, other, one, other));
  EXPECT_THAT(repeated({one, other}, 1), ElementsAre(one, other));
  EXPECT_THAT(repeated({}, 5), ::testing::IsEmpty());
}

TEST(SettleClock, RefusesWhatContradictsItselfWithTheRemedy) {
  EXPECT_THAT(refusal({.asked = "real", .lab = true}), HasSubstr("--clock real: expected virtual or host"));
  EXPECT_THAT(refusal({.asked = "virtual", .lab = false}), HasSubstr("take --lab"));
  for (const std::string topology : {"full", "systems"})
    EXPECT_THAT(refusal({.asked = "virtual", .lab = true, .topology = topology}),
                AllOf(HasSubstr("--topology " + topology + ":"), HasSubstr("take --topology compact")));
  EXPECT_THAT(refusal({.asked = "virtual", .lab = true, .begun = "host"}),
              AllOf(HasSubstr("begun by the host clock, now --clock is virtual"),
                    HasSubstr("leave it out, or take another --out")));
  EXPECT_THAT(refusal({.asked = "host", .lab = true, .begun = "virtual"}),
              HasSubstr("begun by the virtual clock, now --clock is host"));
}

// Without --clock the rest of the command may contradict what was begun all the same.
TEST(SettleClock, RefusesToGoOnByAVirtualClockWhereThereIsNone) {
  EXPECT_THAT(refusal({.lab = false, .begun = "virtual"}), HasSubstr("go on with --lab"));
  EXPECT_THAT(refusal({.lab = true, .topology = "full", .begun = "virtual"}),
              HasSubstr("go on with --lab --topology compact"));
}

lab::SealedImage image() {
  lab::SealedImage image;
  image.identity = "lab-1";
  image.qemu = "qemu-1";
  image.kernel = "kernel-1";
  image.programs = "programs-1";
  image.clock = {.shift = 1, .quantum = 1000};
  return image;
}

TEST(CheckImage, TakesTheSame) {
  Manifest manifest;
  manifest.virtual_clock = testbed_clock_of(image());
  manifest.virtual_clock->check = RepeatCheck{.runs = 3, .equal = 3, .different = {}};
  EXPECT_TRUE(check_image(manifest, image()));
}

TEST(CheckImage, NamesWhatDiffers) {
  Manifest manifest;
  manifest.virtual_clock = testbed_clock_of(image());
  const auto refusal = [&](auto change) {
    auto other = image();
    change(other);
    const auto same = check_image(manifest, other);
    EXPECT_FALSE(same);
    if (same) return std::string{};
    EXPECT_THAT(same.error().message, HasSubstr("cannot be mixed; take another --out, or the longhaul of then"));
    return same.error().message;
  };
  EXPECT_THAT(refusal([](auto& other) { other.qemu = "qemu-2"; }), HasSubstr("with QEMU qemu-1, this is qemu-2"));
  EXPECT_THAT(refusal([](auto& other) { other.kernel = "kernel-2"; }),
              HasSubstr("with the kernel kernel-1, this is kernel-2"));
  EXPECT_THAT(refusal([](auto& other) { other.programs = "programs-2"; }),
              HasSubstr("with the programs programs-1, this is programs-2"));
  EXPECT_THAT(refusal([](auto& other) { other.identity = "lab-2"; }), HasSubstr("with the lab lab-1, this is lab-2"));
}

TEST(CheckClock, NamesBothOfThenAndNow) {
  Manifest manifest;
  manifest.virtual_clock = testbed_clock_of(image());
  EXPECT_TRUE(check_clock(manifest, 1, 1000));
  for (const auto& [shift, quantum] : {std::pair{2, 1000}, std::pair{1, 200}})
    EXPECT_EQ(check_clock(manifest, shift, quantum).error().message,
              fmt::format("it was begun with --shift 1 --quantum 1000, now they are {} and {}; give those of then",
                          shift, quantum));
}

// longhaul shard --out may name the directory of a campaign that has no virtual clock.
TEST(CheckClock, OfTheHostIsNone) {
  EXPECT_THAT(check_clock({}, 1, 1000).error().message, HasSubstr("go on with longhaul run --clock host"));
  EXPECT_THAT(check_image({}, image()).error().message, HasSubstr("go on with longhaul run --clock host"));
}

TEST(SealedClock, RecordAndManifestTellTheSame) {
  const auto record = clock_of(image());
  const auto manifest = testbed_clock_of(image());
  EXPECT_EQ(record.shift, manifest.shift);
  EXPECT_EQ(record.quantum, manifest.quantum);
  EXPECT_EQ(record.qemu, "qemu-1");
  EXPECT_EQ(record.image, manifest.image);
  EXPECT_EQ(manifest.image, "lab-1");
  EXPECT_EQ(manifest.kernel, "kernel-1");
  EXPECT_EQ(manifest.programs, "programs-1");
}

TEST(ShardCommands, AreToldInFull) {
  RunOptions options;
  options.campaign = "campaigns/quick.yaml";
  options.out = "out/quick";
  options.shares = 2;
  EXPECT_THAT(shard_commands(options),
              ElementsAre("longhaul shard campaigns/quick.yaml --share 1/2 --seed 1 --shift 1 --quantum 1000 --out "
                          "out/quick.1",
                          "longhaul shard campaigns/quick.yaml --share 2/2 --seed 1 --shift 1 --quantum 1000 --out "
                          "out/quick.2"));
  options.seed = 9;
  options.shift = 0;
  options.quantum = 200;
  options.shares = 1;
  EXPECT_THAT(shard_commands(options),
              ElementsAre("longhaul shard campaigns/quick.yaml --share 1/1 --seed 9 --shift 0 --quantum 200 --out "
                          "out/quick.1"));
}

TEST(ShardCommands, NameTheKernel) {
  RunOptions options;
  options.campaign = "quick.yaml";
  options.out = "q";
  options.shares = 1;
  options.kernel = {.kernel = "6.12", .modules = {}};
  EXPECT_THAT(shard_commands(options), ElementsAre("longhaul shard quick.yaml --share 1/1 --seed 1 --shift 1 --quantum "
                                                   "1000 --kernel 6.12 --out q.1"));
  options.kernel = {.kernel = "/my kernels/bzImage", .modules = "/lib/modules/6.13.0"};
  EXPECT_THAT(shard_commands(options)[0],
              HasSubstr("--kernel '/my kernels/bzImage' --modules /lib/modules/6.13.0 --out q.1"));
}

TEST(Kernel, IsTheOneThatTheCampaignWasBegunWith) {
  const lab::KernelChoice none, asked{.kernel = "6.12", .modules = {}};
  Manifest manifest;
  EXPECT_EQ(kernel_for(none, std::nullopt), none);
  EXPECT_EQ(kernel_for(none, manifest), none);
  EXPECT_TRUE(check_kernel(manifest, "6.1.0-56-amd64"));
  manifest.lab_kernel = "6.1.0-56-amd64";
  EXPECT_EQ(kernel_for(none, manifest).kernel, "6.1.0-56-amd64");
  EXPECT_EQ(kernel_for(asked, manifest), asked);
  EXPECT_TRUE(check_kernel(manifest, "6.1.0-56-amd64"));
  EXPECT_THAT(check_kernel(manifest, "6.12.107+deb12-amd64").error().message,
              HasSubstr("begun with kernel 6.1.0-56-amd64, this lab's is 6.12.107+deb12-amd64"));
  EXPECT_THAT(check_kernel(manifest, "6.12.107+deb12-amd64").error().message,
              HasSubstr("give --kernel 6.1.0-56-amd64, or take another --out"));
}

TEST(ShardCommands, AreReadBackByAShellAsTheyWereMeant) {
  RunOptions options;
  options.campaign = "my campaigns/it's.yaml";
  options.out = "out/a b";
  options.shares = 1;
  const auto commands = shard_commands(options);
  ASSERT_EQ(commands.size(), 1U);
  const auto words = run_command({"sh", "-c", "for word in " + commands[0] + "; do printf '%s|' \"$word\"; done"});
  EXPECT_EQ(words.out,
            "longhaul|shard|my campaigns/it's.yaml|--share|1/1|--seed|1|--shift|1|--quantum|1000|--out|out/a b.1|");
}

TEST(Labs, AreOneAProcessorUnlessSaid) {
  EXPECT_EQ(labs_or_all(3), 3U);
  EXPECT_EQ(labs_or_all(0), std::max(std::thread::hardware_concurrency(), 1U));
}

}  // namespace
}  // namespace longhaul::orchestrator
