#include "orchestrator/cli/sealed.hh"

#include <memory>
#include <thread>

#include "lab/origin.hh"
#include "orchestrator/cli/commands.hh"
#include "orchestrator/cli/interrupt.hh"
#include "orchestrator/cli/journal.hh"
#include "orchestrator/run/links.hh"
#include "orchestrator/run/order.hh"
#include "results/report/report.hh"

namespace longhaul::orchestrator {
namespace {

// Limits of the host's time for an emulated second, and for a start on a busy machine.
constexpr std::int64_t kWallPerVirtual = 60;
constexpr auto kWallGrace = std::chrono::minutes{5};

// A shard's directory may be anything.
tl::unexpected<Error> by_the_hosts_clock() {
  return refuse("it was begun by the host's clock; go on with longhaul run --clock host, or take another --out");
}

class NoJournal : public Journal {
 public:
  Result<std::string> add_facts(const NodeFacts&) override { return std::string{}; }
  Result<void> add_run(const RunRecord&) override { return {}; }
  Result<void> save_manifest(const Manifest&) override { return {}; }
};

}  // namespace

Result<std::string> settle_clock(const ClockQuestion& question) {
  const bool virtually = question.asked == kVirtualClock;
  if (!question.asked.empty() && !virtually && question.asked != kHostClock)
    return refuse("--clock {}: expected virtual or host", question.asked);
  if (virtually && !question.lab)
    return refuse("--clock virtual is a lab's: machines of an inventory have clocks of their own; take --lab");
  const bool several = question.topology == "full" || question.topology == "systems";
  if (virtually && several)
    return refuse("--clock virtual with --topology {}: a virtual clock is one machine's; take --topology compact",
                  question.topology);
  if (question.begun && !question.asked.empty() && *question.begun != question.asked)
    return refuse("the campaign was begun by the {} clock, now --clock is {}; leave it out, or take another --out",
                  *question.begun, question.asked);
  if (question.begun == kVirtualClock && (!question.lab || several))
    return refuse(
        "the campaign was begun by the virtual clock, which only a lab of one machine has; go on with --lab{}",
        several ? " --topology compact" : "");
  if (question.begun) return *question.begun;
  if (!question.asked.empty()) return question.asked;
  if (!question.lab || several) return std::string{kHostClock};
  return std::string{};
}

// Results of another image are no results of this one.
Result<void> check_image(const Manifest& earlier, const lab::SealedImage& image) {
  if (!earlier.virtual_clock) return by_the_hosts_clock();
  if (auto same = check_kernel(earlier, image.release); !same) return same;
  const auto now = testbed_clock_of(image);
  const auto& then = *earlier.virtual_clock;
  const auto other = [](const char* what, const std::string& was, const std::string& is) {
    return refuse(
        "it was begun with {} {}, this is {}: figures of both cannot be mixed; take another --out, or the longhaul of "
        "then",
        what, was, is);
  };
  if (then.qemu != now.qemu) return other("QEMU", then.qemu, now.qemu);
  if (then.kernel != now.kernel) return other("the kernel", then.kernel, now.kernel);
  if (then.programs != now.programs) return other("the programs", then.programs, now.programs);
  if (then.image != now.image) return other("the lab", then.image, now.image);
  return {};
}

Result<void> check_clock(const Manifest& earlier, int shift, int quantum) {
  if (!earlier.virtual_clock) return by_the_hosts_clock();
  const auto& then = *earlier.virtual_clock;
  if (then.shift != shift || then.quantum != quantum)
    return refuse("it was begun with --shift {} --quantum {}, now they are {} and {}; give those of then", then.shift,
                  then.quantum, shift, quantum);
  return {};
}

std::vector<PlannedRun> repeated(const std::vector<PlannedRun>& runs, std::size_t times) {
  std::vector<PlannedRun> all;
  all.reserve(runs.size() * times);
  for (std::size_t i = 0; i < times; ++i) all.insert(all.end(), runs.begin(), runs.end());
  return all;
}

std::size_t labs_or_all(std::size_t asked) {
  return asked > 0 ? asked : std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
}

VirtualClock clock_of(const lab::SealedImage& image) {
  return {.shift = image.clock.shift, .quantum = image.clock.quantum, .qemu = image.qemu, .image = image.identity};
}

VirtualTestbed testbed_clock_of(const lab::SealedImage& image) {
  return {.shift = image.clock.shift,
          .quantum = image.clock.quantum,
          .qemu = image.qemu,
          .image = image.identity,
          .kernel = image.kernel,
          .programs = image.programs};
}

Result<lab::SealedImage> seal_for(const RunOptions& options, const RunPlan& plan, Sink& sink) {
  lab::SealOptions wanted;
  wanted.clients = static_cast<unsigned>(most_clients(plan.cells));
  wanted.kernel = options.kernel;
  wanted.clock = {.shift = options.shift, .quantum = options.quantum};
  wanted.progress = [&sink](const std::string& line) { sink.on(StepEvent{line}); };
  wanted.cancelled = [] { return interrupted(); };
  auto image = lab::seal(wanted);
  if (!image) return image;
  const auto said = understand_saying(image->greeting);
  if (!said) return tl::unexpected(said.error());
  for (const auto& remark : said->remarks) sink.on(StepEvent{fmt::format("sealed lab: {}", remark)});
  return image;
}

CopyRunner copies_of(const lab::SealedImage& image) {
  return
      [origin = std::make_shared<lab::Origin>(image)](const SealedOrder& order, const std::function<bool()>& stopped) {
        lab::CopyLimits limits;
        limits.wall = kWallGrace +
                      std::chrono::duration_cast<std::chrono::milliseconds>(Nanoseconds{order.limit} * kWallPerVirtual);
        limits.cancelled = stopped;
        return origin->copy(to_json(order), limits);
      };
}

Result<void> make_unkept(const RunPlan& plan, Manifest manifest, const lab::SealedImage& image, std::size_t labs,
                         Sink& sink, const std::vector<PlannedRun>& runs, SealedDriver::Take take) {
  NoJournal nothing;
  const SealedDriver driver{plan.campaign,
                            plan.cells,
                            std::move(manifest),
                            [](const std::vector<double>&) { return std::optional<double>{}; },
                            {},
                            clock_of(image),
                            copies_of(image),
                            nothing,
                            sink,
                            {.labs = labs_or_all(labs)}};
  return driver.make(runs, std::move(take), [] { return interrupted(); });
}

RunOptions by_the_virtual_clock() {
  RunOptions options;
  options.lab = true;
  options.clock = kVirtualClock;
  options.seed = kVirtualSeed;
  return options;
}

Result<CampaignSession> run_sealed_session(const RunOptions& asked, const RunPlan& plan,
                                           std::optional<RunDirectory>& directory, Sink& sink) {
  auto options = asked;
  options.kernel = kernel_for(asked.kernel, directory ? directory->manifest : std::nullopt);
  if (directory && directory->manifest) {
    if (!directory->manifest->virtual_clock) return refuse("{}: it was begun by the host's clock", options.out);
    if (auto same = check_clock(*directory->manifest, options.shift, options.quantum); !same)
      return refuse("{}: {}", options.out, same.error().message);
  }
  const auto image = seal_for(options, plan, sink);
  if (!image) return tl::unexpected(interrupted() ? Error{"interrupted", ExitCode::interrupted} : image.error());
  if (auto links = links_of(image->testbed, plan.cells); !links) return tl::unexpected(links.error());
  if (const auto cut = cut_windows(plan.campaign, plan.cells); cut > 0)
    sink.on(
        StepEvent{fmt::format("{} of {} cells ask for a longer window (duration) than the {} ms and {} round trips "
                              "that a virtual clock needs: it is cut; min_samples keeps a window open",
                              cut, plan.cells.size(), kShortWindow.count(), kShortWindowRoundTrips)});
  const auto& earlier = directory ? directory->manifest : std::nullopt;
  if (earlier) {
    auto same = check_resume(*earlier, plan.campaign.file.text, options.seed, {image->testbed});
    if (same) same = check_image(*earlier, *image);
    if (!same) return refuse("{}: {}", options.out, same.error().message);
  }
  if (!directory) {
    auto opened = open_directory(destination_of(options), false, plan.campaign, options.seed);
    if (!opened) return tl::unexpected(opened.error());
    directory = std::move(*opened);
  }
  auto said = understand_saying(image->greeting);
  if (!said) return tl::unexpected(said.error());

  StoreJournal journal{directory->store};
  auto manifest = make_manifest(options, plan, {image->testbed}, directory->manifest);
  manifest.virtual_clock = testbed_clock_of(*image);
  manifest.lab_kernel = image->release;
  if (earlier) manifest.virtual_clock->check = earlier->virtual_clock->check;
  SealedDriver driver{plan.campaign,
                      plan.cells,
                      std::move(manifest),
                      [](const std::vector<double>& values) { return results::precision(values); },
                      std::move(said->facts),
                      clock_of(*image),
                      copies_of(*image),
                      journal,
                      sink,
                      {.labs = labs_or_all(options.labs), .share = options.share, .shares = options.shares}};
  driver.resume(directory->runs);
  CampaignSession session;
  session.outcome = driver.run([] { return interrupted(); });
  session.made = driver.runs_made();
  session.manifest = driver.manifest();
  return session;
}

}  // namespace longhaul::orchestrator
