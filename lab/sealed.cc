#include "lab/sealed.hh"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/error.hh"
#include "common/memory_file.hh"
#include "common/sha256.hh"
#include "lab/boot.hh"
#include "lab/builder.hh"
#include "lab/emulator.hh"
#include "lab/image.hh"
#include "lab/machine.hh"
#include "lab/plan/topology.hh"
#include "lab/programs.hh"
#include "lab/qmp.hh"
#include "lab/sealed_vm.hh"

namespace longhaul::lab {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kBootTime = std::chrono::minutes{5};
constexpr auto kKept = std::chrono::hours{24 * 7};  // unused for so long, a kept lab goes

struct Kept {
  std::string said, console;
};

/// Boots to the point that the guest itself names, and keeps the machine's memory in `directory`.
Result<Kept> boot_and_keep(std::vector<std::string> arguments, const std::string& directory,
                           const SealOptions& options) {
  arguments.insert(arguments.end(), {"-chardev", fmt::format("socket,id=control,fd={}", kControlFd), "-mon",
                                     "chardev=control,mode=control"});
  auto vm = start_sealed_vm(std::move(arguments), Control::qmp);
  Qmp qmp{std::move(vm.control), Clock::now() + kBootTime, options.cancelled};
  const auto kept = [&]() -> Result<void> {
    if (auto done = qmp.begin(); !done) return done;
    if (auto done = qmp.await_event("GUEST_PANICKED"); !done) return done;
    if (auto done = qmp.await_event("STOP"); !done) return done;
    const auto to = fmt::format(R"({{"uri":"file:{}/memory"}})", directory);
    if (auto done = qmp.execute("migrate", to); !done) return tl::unexpected(done.error());
    return qmp.await_migration();
  }();
  if (!kept) {
    if (kept.error().exit_code == ExitCode::interrupted) return tl::unexpected(kept.error());
    return fail("the sealed lab does not come up: {}{}", kept.error().message, vm.output.why());
  }
  if (const auto excess = vm.output.excess(); !excess.empty()) return fail("the sealed lab {}", excess);
  return Kept{.said = file_content(vm.output.said.get(), kMostSaid),
              .console = file_content(vm.output.console.get(), kMostSaid)};
}

std::string joined(const std::vector<OverlayFile>& files) {
  std::string text;
  for (const auto& file : files) text += fmt::format("{} {:o} {}\n{}\n", file.path, file.mode, file.uid, file.bytes);
  return text;
}

/// The plan's nodes as a program inside the machine reaches them.
Testbed testbed_of(const LabPlan& plan) {
  Testbed testbed;
  testbed.topology = "compact";
  testbed.emulated = true;
  testbed.ca = "/etc/longhaul/pki/ca.pem";
  testbed.cert = "/etc/longhaul/pki/controller-longhaul.pem";
  testbed.key = "/etc/longhaul/pki/controller-longhaul.key";
  for (const auto& planned : plan.nodes) {
    Node node;
    node.name = planned.name;
    node.role = planned.role;
    node.host = planned.guest_address;
    node.port = planned.guest_port;
    for (const auto& [path, ends] : {std::pair{"wan", &planned.ends}, std::pair{"lan", &planned.lan}})
      for (const auto& end : *ends)
        node.attachments.push_back({.path = path,
                                    .netdev = end.netdev,
                                    .address = end.address,
                                    .device = end.device,
                                    .provider = end.provider});
    if (node.role == Role::router)
      for (const auto& link : plan.links)
        node.links.push_back({.client_side = link.client_side, .server_side = link.server_side});
    testbed.nodes.push_back(std::move(node));
  }
  return testbed;
}

/// One seals at a time; whoever waited finds it done.
OwnFd lock(const std::string& path) {
  OwnFd fd{check(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), "opening " + path)};
  check(::flock(fd.get(), LOCK_EX), "locking " + path);
  return fd;
}

void drop_old(const std::string& cache) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(cache, ignored))
    if (entry.path().filename().string().starts_with("sealed-") &&
        fs::file_time_type::clock::now() - entry.last_write_time(ignored) > kKept)
      fs::remove_all(entry.path(), ignored);
}

}  // namespace

Result<bool> would_be_emulated() {
  if (!kvm_is_offered()) return true;  // trying it takes an image
  const auto image = build_image({});
  if (!image) return tl::unexpected(image.error());
  return !kvm_works(*image);
}

Result<void> emulator_at_hand() {
  if (auto emulator = build_emulator(); !emulator) return tl::unexpected(emulator.error());
  return {};
}

Result<SealedImage> seal(const SealOptions& options) {
  const auto say = [&](const std::string& text) {
    if (options.progress) options.progress(text);
  };
  const auto emulator = build_emulator();
  if (!emulator) return tl::unexpected(emulator.error());
  const auto programs = find_programs(options.program_dir, Inside::sealed);
  if (programs.names.size() < 4)
    return fail("a sealed lab wants longhaul-agent, longhaul-bench, degen and longhaul-sealed in {}",
                program_directory(options.program_dir));
  const auto built = build_image(programs.files, options.kernel);
  if (!built) return tl::unexpected(built.error());

  PlanOptions wanted{.topology = Topology::compact,
                     .clients = options.clients,
                     .mtu = options.mtu,
                     .programs = programs.names,
                     .sealed = true};
  wanted.host_ports.resize(ports_needed(wanted.topology, wanted.clients));
  const auto plan = make_plan(wanted);
  SealedImage image;
  image.testbed = testbed_of(plan);
  const std::vector<OverlayFile> more{
      {.path = "/etc/longhaul/testbed.json", .bytes = to_json(image.testbed), .mode = 0644, .uid = 0}};

  image.clock = options.clock;
  image.qemu = emulator->identity;
  image.release = built->release;
  image.kernel = Sha256{}.add_file(built->kernel).hex(16);
  image.programs = Sha256{}.add_file(built->base).add_file(built->programs).hex(16);
  std::string description = image.qemu + image.kernel + image.programs + joined(plan.machines.front().files) +
                            joined(more) + kernel_arguments();
  // Not where things lie on this machine.
  for (const auto& word : sealed_hardware({}, options.clock, {}, {})) description += '\n' + word;
  image.identity = short_digest(description);

  const auto cache = cache_directory();
  const auto held = lock(cache + "/sealed.lock");
  drop_old(cache);
  image.directory = cache + "/sealed-" + image.identity;
  if (!fs::exists(image.directory)) {
    say(fmt::format("booting the sealed lab (Linux {}), once", image.release));
    const auto fresh = image.directory + ".new";
    fs::remove_all(fresh);
    fs::create_directory(fresh);
    fs::permissions(fresh, fs::perms::owner_all);  // its agents' keys are in its memory
    const auto initrd = fresh + "/initrd";
    fs::rename(write_initrd(fresh, plan.machines.front(), plan, more, *built), initrd);
    std::error_code ignored;
    fs::create_hard_link(built->kernel, fresh + "/kernel", ignored);
    if (ignored) fs::copy_file(built->kernel, fresh + "/kernel");
    auto kept = boot_and_keep(sealed_hardware(*emulator, options.clock, fresh + "/kernel", initrd), fresh, options);
    if (kept)
      if (auto crossed = check_crossings(plan, parse_crossings(kept->console)); !crossed)
        kept = tl::unexpected(crossed.error());
    if (!kept) {
      fs::remove_all(fresh);
      return tl::unexpected(kept.error());
    }
    std::ofstream(fresh + "/greeting") << kept->said;
    fs::rename(fresh, image.directory);
  }
  fs::last_write_time(image.directory, fs::file_time_type::clock::now());
  image.greeting = read_text(image.directory + "/greeting");
  say(fmt::format("sealed lab {} is ready", image.identity));
  return image;
}

}  // namespace longhaul::lab
