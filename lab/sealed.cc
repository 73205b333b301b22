#include "lab/sealed.hh"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "common/child.hh"
#include "common/error.hh"
#include "common/log.hh"
#include "lab/boot.hh"
#include "lab/cpio.hh"
#include "lab/image.hh"
#include "lab/programs.hh"
#include "lab/qmp.hh"
#include "lab/sealed_ports.hh"
#include "lab/topology.hh"

namespace longhaul::lab {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr unsigned kProcessors = 3;  // a client, a server, and what stands between them
constexpr unsigned kMegabytes = 1024;
constexpr auto kBootTime = std::chrono::minutes{5};
constexpr auto kKept = std::chrono::hours{24 * 7};  // unused for so long, a kept lab goes
constexpr std::size_t kConsoleLines = 20;
constexpr auto kGlance = std::chrono::milliseconds{100};
constexpr int kEndCode = 1;  // isa-debug-exit's for the guest's 0
constexpr int kTries = 3;    // where copies are killed
// The descriptors of QEMU: 0 to 2 are the usual ones.
constexpr int kOrderFd = 3, kSayFd = 4, kConsoleFd = 5, kControlFd = 6;

std::string read_all(int fd) {
  std::string text;
  char bytes[65536];
  ssize_t got = 0;
  for (off_t at = 0; (got = ::pread(fd, bytes, sizeof bytes, at)) > 0; at += got)
    text.append(bytes, static_cast<std::size_t>(got));
  return text;
}

OwnFd memory_file(const char* name, const std::string& content = {}) {
  OwnFd fd{check(::memfd_create(name, MFD_CLOEXEC), "making a file in memory")};
  for (std::size_t done = 0; done < content.size();)
    done += static_cast<std::size_t>(
        check(::write(fd.get(), content.data() + done, content.size() - done), "writing a file in memory"));
  return fd;
}

std::string tail(std::string text, std::size_t lines) {
  std::erase(text, '\r');
  while (text.ends_with('\n')) text.pop_back();
  std::size_t from = text.size();
  for (std::size_t line = 0; line < lines && from != std::string::npos && from > 0; ++line)
    from = text.rfind('\n', from - 1);
  return from == std::string::npos || from == 0 ? text : text.substr(from + 1);
}

class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new()) {
    if (context_ == nullptr || EVP_DigestInit_ex(context_, EVP_sha256(), nullptr) != 1)
      throw std::runtime_error("SHA-256 is not to be had");
  }
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;
  ~Digest() { EVP_MD_CTX_free(context_); }
  Digest& add(std::string_view bytes) {
    EVP_DigestUpdate(context_, bytes.data(), bytes.size());
    return *this;
  }
  Digest& add_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw_errno("opening " + path);
    std::string bytes(1 << 20, '\0');
    while (in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) || in.gcount() > 0)
      add({bytes.data(), static_cast<std::size_t>(in.gcount())});
    return *this;
  }
  /// The first 16 hexadecimal digits.
  std::string text() {
    unsigned char value[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    EVP_DigestFinal_ex(context_, value, &size);
    std::string out;
    for (unsigned i = 0; i < 8; ++i) out += fmt::format("{:02x}", value[i]);
    return out;
  }

 private:
  EVP_MD_CTX* context_;
};

/// What every copy of a kept lab has; the same devices in the same order, or it would not be a copy.
std::vector<std::string> hardware(const Emulator& emulator, const ClockOptions& clock, const std::string& kernel,
                                  const std::string& initrd) {
  return {emulator.program, "-L", emulator.share, "-name", "longhaul-sealed", "-nodefaults", "-no-user-config",
          "-display", "none", "-no-reboot", "-M", "q35", "-accel", "tcg,thread=single", "-icount",
          fmt::format("shift={},sleep=off,align=off,quantum={}", clock.shift, clock.quantum),
          // Time begins at a date of ours and goes with the instructions; what is random comes from this seed.
          "-rtc", "base=2026-01-01T00:00:00,clock=vm", "-seed", "1",
          // Emulated byte by byte where it were one instruction (erms, fsrm); x2apic reads the clock where it may not.
          "-cpu", "max,-erms,-fsrm,-x2apic", "-smp", fmt::format("{}", kProcessors), "-m",
          fmt::format("{}", kMegabytes), "-bios", "qboot.rom", "-nic", "none", "-chardev",
          fmt::format("file,id=console,path=/proc/self/fd/{}", kConsoleFd), "-serial", "chardev:console", "-chardev",
          fmt::format("file,id=say,path=/proc/self/fd/{}", kSayFd), "-device",
          fmt::format("isa-debugcon,iobase={:#x},chardev=say", kSayPort), "-device",
          fmt::format("isa-debug-exit,iobase={:#x},iosize=1", kEndPort), "-device",
          fmt::format("pvpanic,ioport={}", kKeepPort), "-action", "panic=pause", "-fw_cfg",
          fmt::format("name={},file=/proc/self/fd/{}", kOrderName, kOrderFd), "-kernel", kernel, "-initrd", initrd,
          "-append", kernel_arguments(),
          // Kept as a file of pages at their places; it does not say that it was stopped, so that a copy runs at once.
          "-global", "migration.mapped-ram=on", "-global", "migration.store-global-state=off"};
}

/// A running QEMU and its ends of what it was given.
struct Vm {
  OwnFd order, said, console, complaints;
  Child child;
  std::string why() const {
    const auto complaint = tail(read_all(complaints.get()), kConsoleLines);
    const auto last = tail(read_all(console.get()), kConsoleLines);
    return (complaint.empty() ? "" : "\n--- QEMU says:\n" + complaint) +
           (last.empty() ? "" : "\n--- its console:\n" + last);
  }
};

struct Started {
  Vm vm;
  OwnFd control;
};

Started start(std::vector<std::string> arguments, const std::string& order) {
  Started started;
  Vm& vm = started.vm;
  vm.order = memory_file("order", order);
  vm.said = memory_file("said");
  vm.console = memory_file("console");
  vm.complaints = memory_file("complaints");
  int ends[2];
  check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "creating a socket pair");
  started.control = OwnFd{ends[0]};
  const OwnFd theirs{ends[1]};
  const OwnFd nothing{check(::open("/dev/null", O_RDWR | O_CLOEXEC), "opening /dev/null")};
  vm.child = Child({.arguments = std::move(arguments),
                    .descriptors = {{nothing.get(), STDIN_FILENO},
                                    {vm.complaints.get(), STDOUT_FILENO},
                                    {vm.complaints.get(), STDERR_FILENO},
                                    {vm.order.get(), kOrderFd},
                                    {vm.said.get(), kSayFd},
                                    {vm.console.get(), kConsoleFd},
                                    {theirs.get(), kControlFd}},
                    // A terminal's Ctrl-C is for the owner.
                    .new_process_group = true});
  return started;
}

struct Kept {
  std::string said, console;
};

/// Boots to the point that the guest itself names, and keeps the machine's memory in `directory`.
Result<Kept> boot_and_keep(std::vector<std::string> arguments, const std::string& directory,
                           const SealOptions& options) {
  arguments.insert(arguments.end(), {"-chardev", fmt::format("socket,id=control,fd={}", kControlFd), "-mon",
                                     "chardev=control,mode=control"});
  auto [vm, control] = start(std::move(arguments), "{}");
  Qmp qmp{std::move(control), Clock::now() + kBootTime, options.cancelled};
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
    return fail("the sealed lab does not come up: {}{}", kept.error().message, vm.why());
  }
  return Kept{.said = read_all(vm.said.get()), .console = read_all(vm.console.get())};
}

std::string joined(const std::vector<OverlayFile>& files) {
  std::string text;
  for (const auto& file : files) text += fmt::format("{} {:o} {}\n{}\n", file.path, file.mode, file.uid, file.bytes);
  return text;
}

/// The plan's nodes as a program inside the machine reaches them.
Testbed testbed_of(const Plan& plan) {
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

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

}  // namespace

Result<bool> would_be_emulated() {
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
  const auto built = build_image(programs.files);
  if (!built) return tl::unexpected(built.error());

  PlanOptions wanted{.topology = Topology::compact,
                     .clients = options.clients,
                     .mtu = options.mtu,
                     .cores = kProcessors,
                     .programs = programs.names,
                     .sealed = true};
  wanted.host_ports.resize(ports_needed(wanted.topology, wanted.clients));
  const auto plan = make_plan(wanted);
  SealedImage image;
  image.testbed = testbed_of(plan);
  auto files = plan.machines.front().files;
  files.push_back({.path = "/etc/longhaul/testbed.json", .bytes = to_json(image.testbed), .mode = 0644, .uid = 0});

  image.clock = options.clock;
  image.qemu = emulator->identity;
  image.kernel = Digest{}.add_file(built->kernel).text();
  image.programs = Digest{}.add_file(built->base).add_file(built->programs).text();
  std::string description = image.qemu + image.kernel + image.programs + joined(files) + kernel_arguments();
  // Not where things lie on this machine.
  for (const auto& word : hardware({}, options.clock, {}, {})) description += '\n' + word;
  image.identity = Digest{}.add(description).text();

  const auto cache = cache_directory();
  const auto held = lock(cache + "/sealed.lock");
  drop_old(cache);
  image.directory = cache + "/sealed-" + image.identity;
  if (!fs::exists(image.directory)) {
    say("booting the sealed lab, once");
    const auto fresh = image.directory + ".new";
    fs::remove_all(fresh);
    fs::create_directory(fresh);
    fs::permissions(fresh, fs::perms::owner_all);  // its agents' keys are in its memory
    const auto initrd = fresh + "/initrd";
    {
      std::ofstream out(initrd, std::ios::binary);
      out << make_cpio(files) << read_text(built->base) << read_text(built->programs);
      if (!out.flush()) throw_errno("writing " + initrd);
    }
    std::error_code ignored;
    fs::create_hard_link(built->kernel, fresh + "/kernel", ignored);
    if (ignored) fs::copy_file(built->kernel, fresh + "/kernel");
    auto kept = boot_and_keep(hardware(*emulator, options.clock, fresh + "/kernel", initrd), fresh, options);
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

namespace {

/// Empty: it was killed by somebody, and nothing is known of the order.
Result<std::optional<std::string>> try_sealed(const SealedImage& image, const std::string& order,
                                              const SealedLimits& limits) {
  const auto emulator = build_emulator();
  if (!emulator) return tl::unexpected(emulator.error());
  auto arguments = hardware(*emulator, image.clock, image.directory + "/kernel", image.directory + "/initrd");
  arguments.insert(arguments.end(), {"-incoming", "file:" + image.directory + "/memory"});
  auto vm = start(std::move(arguments), order).vm;
  const auto deadline = Clock::now() + limits.wall;
  std::optional<ChildExit> ended;
  while (!(ended = vm.child.wait(kGlance))) {
    if (limits.cancelled && limits.cancelled()) return tl::unexpected(Error{"interrupted", ExitCode::interrupted});
    if (Clock::now() > deadline)
      return fail("a copy of the sealed lab hangs: it was ended after {} s{}",
                  std::chrono::duration_cast<std::chrono::seconds>(limits.wall).count(), vm.why());
  }
  if (ended->signal == SIGKILL || ended->signal == SIGTERM) return std::nullopt;
  if (ended->code != kEndCode) return fail("a copy of the sealed lab died: {}{}", ended->text(), vm.why());
  auto said = read_all(vm.said.get());
  // A QEMU that cannot begin ends with the same code.
  if (said.empty()) return fail("a copy of the sealed lab ended without a word{}", vm.why());
  return said;
}

}  // namespace

Result<std::string> run_sealed(const SealedImage& image, const std::string& order, const SealedLimits& limits) {
  for (int tries = 0; tries < kTries; ++tries) {
    auto said = try_sealed(image, order, limits);
    if (!said) return tl::unexpected(said.error());
    if (*said) return std::move(**said);
    log::warn("a copy of the sealed lab was killed; its run is made again, with the same outcome");
  }
  return fail("copies of the sealed lab are killed, {} in a row: is the machine short of memory? ({} MB each)", kTries,
              kMegabytes);
}

}  // namespace longhaul::lab
