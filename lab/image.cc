#include "lab/image.hh"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>

#include "common/child.hh"
#include "common/error.hh"
#include "common/log.hh"
#include "common/replace_file.hh"

namespace longhaul::lab {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string value_of(const std::string& output, const std::string& name) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(name + "=")) return line.substr(name.size() + 1);
  return {};
}

/// Beside the installed program, or in the checkout that it was built from.
std::string builder(const std::string& name) {
  std::error_code ignored;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const auto installed = self.parent_path().parent_path() / "share/longhaul/lab" / name;
  if (std::filesystem::exists(installed, ignored)) return installed;
  return std::string{LONGHAUL_LAB_BUILDERS "/"} + name;
}

Result<Image> run_builder(const std::string& name, const std::vector<std::string>& arguments) {
  std::vector<std::string> command{builder(name)};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const CommandOutput output = run_command(command);
  if (!output.exit.ok()) return fail("building the lab's image failed ({}): see the lines above", output.exit.text());
  return Image{.kernel = value_of(output.out, "kernel"),
               .base = value_of(output.out, "base"),
               .programs = value_of(output.out, "programs"),
               .release = value_of(output.out, "release"),
               .disk = value_of(output.out, "disk")};
}

bool boots_with_kvm(const Image& image, const std::string& console) {
  // A processor that KVM cannot set up makes QEMU abort with words that are no user's concern.
  const OwnFd nothing{check(::open("/dev/null", O_RDWR | O_CLOEXEC), "opening /dev/null")};
  Child machine({.arguments = {"qemu-system-x86_64",
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
    std::ifstream file(console);
    std::stringstream text;
    text << file.rdbuf();
    // Without an initramfs it panics right after; what counts is that it spoke.
    if (text.str().find("Linux version") != std::string::npos) return true;
    if (ended) return false;
  }
  return false;
}

}  // namespace

std::string cache_directory() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
    return std::string(cache) + "/longhaul/lab";
  const char* home = std::getenv("HOME");
  return std::string(home != nullptr ? home : "/tmp") + "/.cache/longhaul/lab";
}

Result<Image> build_image(const std::vector<std::string>& programs, const KernelChoice& kernel) {
  const auto settled = settle_kernel(kernel);
  if (!settled) return tl::unexpected(settled.error());
  std::vector<std::string> arguments;
  if (!settled->kernel.empty()) arguments.insert(arguments.end(), {"--kernel", settled->kernel});
  if (!settled->modules.empty()) arguments.insert(arguments.end(), {"--modules", settled->modules});
  arguments.insert(arguments.end(), programs.begin(), programs.end());
  return run_builder("image/build", arguments);
}

Result<Image> build_system_image() {
  return run_builder("image/systems", {});
}

Result<Emulator> build_emulator() {
  static std::mutex busy;
  static std::optional<Emulator> known;
  const std::scoped_lock alone{busy};
  if (known) return *known;
  const CommandOutput output = run_command({builder("qemu/build")});
  if (!output.exit.ok()) return fail("longhaul's QEMU is not to be had ({}): see the lines above", output.exit.text());
  known = Emulator{.program = value_of(output.out, "qemu"),
                   .share = value_of(output.out, "share"),
                   .identity = value_of(output.out, "identity")};
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

}  // namespace longhaul::lab
