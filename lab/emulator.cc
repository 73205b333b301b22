#include "lab/emulator.hh"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <system_error>

#include "common/child.hh"
#include "common/error.hh"
#include "common/log.hh"
#include "common/replace_file.hh"
#include "lab/builder.hh"
#include "lab/machine.hh"

namespace longhaul::lab {
namespace {

constexpr const char* kInstalled = "qemu-system-x86_64";

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

bool boots_with_kvm(const Image& image, const std::string& console) {
  // A processor that KVM cannot set up makes QEMU abort with words that are no user's concern.
  const OwnFd nothing{check(::open("/dev/null", O_RDWR | O_CLOEXEC), "opening /dev/null")};
  Child machine({.arguments = {kInstalled,
                               "-M",
                               "q35",
                               "-accel",
                               "kvm",
                               "-cpu",
                               "host",
                               "-m",
                               "256",
                               "-nodefaults",
                               "-no-user-config",
                               "-display",
                               "none",
                               "-no-reboot",
                               "-kernel",
                               image.kernel,
                               "-append",
                               "console=ttyS0 panic=-1",
                               "-serial",
                               "file:" + console},
                 .descriptors = {{nothing.get(), STDERR_FILENO}}});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{5};
  while (std::chrono::steady_clock::now() < deadline) {
    const auto ended = machine.wait(std::chrono::milliseconds{50});
    // Without an initramfs it panics right after; what counts is that it spoke.
    if (read_text(console).find("Linux version") != std::string::npos) return true;
    if (ended) return false;
  }
  return false;
}

/// Empty where it is not installed, or says what no QEMU says.
std::optional<QemuVersion> version_of(const std::string& program) {
  try {
    const auto said = run_command({program, "--version"});
    return said.exit.ok() ? parse_qemu_version(said.out) : std::nullopt;
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

Accelerator emulation(std::vector<std::string> command, const std::optional<QemuVersion>& version) {
  // `rep movsb`, which these two make the kernel copy with, is emulated byte by byte.
  command.insert(command.end(), {"-M", "q35", "-accel", "tcg,thread=multi", "-cpu", "max,-erms,-fsrm"});
  const auto which = version ? fmt::format(" {}.{}", version->major, version->minor) : std::string{};
  return {.command = std::move(command), .emulated = true, .words = fmt::format("emulated by QEMU{} (no KVM)", which)};
}

}  // namespace

Result<Emulator> build_emulator() {
  static std::mutex busy;
  static std::optional<Emulator> known;
  const std::scoped_lock alone{busy};
  if (known) return *known;
  auto made = run_builder("qemu/build", {}, "longhaul's QEMU");
  if (!made) return tl::unexpected(made.error());
  known = Emulator{.program = (*made)["qemu"], .share = (*made)["share"], .identity = (*made)["identity"]};
  return *known;
}

bool kvm_is_offered() {
  return access("/dev/kvm", R_OK | W_OK) == 0;
}

bool kvm_works(const Image& image) {
  if (!kvm_is_offered()) return false;
  const std::string memory = cache_directory() + "/kvm";
  const std::string boot = first_line("/proc/sys/kernel/random/boot_id");
  const std::string remembered = first_line(memory);
  if (remembered == boot + " yes") return true;
  if (remembered == boot + " no") return false;

  const std::string console = fmt::format("{}/kvm-probe.{}", cache_directory(), getpid());
  const bool works = boots_with_kvm(image, console);
  std::error_code ignored;
  std::filesystem::remove(console, ignored);
  log::info("KVM {} on this machine", works ? "works" : "does not work, so the lab is emulated");
  // Without the file, the next start finds it out again.
  if (auto kept = replace_file(memory, boot + (works ? " yes\n" : " no\n")); !kept)
    log::warn("{}", kept.error().message);
  return works;
}

std::optional<QemuVersion> parse_qemu_version(std::string_view said) {
  constexpr std::string_view kHead = "QEMU emulator version ";
  if (!said.starts_with(kHead)) return std::nullopt;
  QemuVersion version;
  const char* const end = said.data() + said.size();
  const auto major = std::from_chars(said.data() + kHead.size(), end, version.major);
  if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') return std::nullopt;
  if (std::from_chars(major.ptr + 1, end, version.minor).ec != std::errc{}) return std::nullopt;
  return version;
}

Result<Accelerator> choose_accelerator(const Image& image) {
  if (kvm_works(image))
    return Accelerator{
        .command = {kInstalled, "-M", "q35", "-accel", "kvm", "-cpu", "host"}, .emulated = false, .words = "KVM"};
  const auto installed = version_of(kInstalled);
  if (installed && *installed >= kTranslatesPatchedCode) return emulation({kInstalled}, installed);
  const auto ours = build_emulator();
  if (ours) return emulation({ours->program, "-L", ours->share}, version_of(ours->program));
  if (!installed) return fail("{}; and {} is not installed: install qemu-system-x86", ours.error().message, kInstalled);
  log::warn(
      "{}; the lab takes {} {}.{}: before {}.{} it may stand still when its kernel changes its own code, as it does "
      "for engine edt (docs/measuring.md)",
      ours.error().message, kInstalled, installed->major, installed->minor, kTranslatesPatchedCode.major,
      kTranslatesPatchedCode.minor);
  return emulation({kInstalled}, installed);
}

}  // namespace longhaul::lab
