#include "lab/sealed_vm.hh"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tuple>

#include "common/error.hh"
#include "common/memory_file.hh"
#include "lab/machine.hh"
#include "lab/plan/topology.hh"
#include "lab/sealed_ports.hh"

namespace longhaul::lab {
namespace {

// The descriptors of QEMU: 0 to 2 are the usual ones.
constexpr int kSayFd = 4, kConsoleFd = 5;
// Translated code: as much as all workloads need, and the same on every host, whatever memory that has.
constexpr unsigned kTranslatedMegabytes = 512;

}  // namespace

std::vector<std::string> sealed_hardware(const Emulator& emulator, const ClockOptions& clock, const std::string& kernel,
                                         const std::string& initrd) {
  return {emulator.program, "-L", emulator.share, "-name", "longhaul-sealed", "-nodefaults", "-no-user-config",
          "-display", "none", "-no-reboot", "-M", "q35", "-accel",
          fmt::format("tcg,thread=single,tb-size={}", kTranslatedMegabytes), "-icount",
          fmt::format("shift={},sleep=off,align=off,quantum={}", clock.shift, clock.quantum),
          // Time begins at a date of ours and goes with the instructions; what is random comes from this seed.
          "-rtc", "base=2026-01-01T00:00:00,clock=vm", "-seed", "1",
          // Emulated byte by byte where it were one instruction (erms, fsrm); x2apic reads the clock where it may not.
          "-cpu", "max,-erms,-fsrm,-x2apic", "-smp", fmt::format("{}", kSealedProcessors), "-m",
          fmt::format("{}", kSealedMegabytes), "-bios", "qboot.rom", "-nic", "none", "-chardev",
          fmt::format("file,id={},path=/proc/self/fd/{}", kConsoleName, kConsoleFd), "-serial",
          fmt::format("chardev:{}", kConsoleName), "-chardev",
          fmt::format("file,id={},path=/proc/self/fd/{}", kSayName, kSayFd), "-device",
          fmt::format("isa-debugcon,iobase={:#x},chardev={}", kSayPort, kSayName), "-device",
          fmt::format("isa-debug-exit,iobase={:#x},iosize=1", kEndPort), "-device",
          fmt::format("pvpanic,ioport={}", kKeepPort), "-action", "panic=pause", "-fw_cfg",
          // Each copy has an order of its own.
          fmt::format("name={},string=none", kOrderName), "-kernel", kernel, "-initrd", initrd, "-append",
          kernel_arguments(),
          // Kept as a file of pages at their places; it does not say that it was stopped, so that it runs at once.
          "-global", "migration.mapped-ram=on", "-global", "migration.store-global-state=off"};
}

SealedOutput::SealedOutput()
    : said(memory_file("said")), console(memory_file("console")), complaints(memory_file("complaints")) {}

std::string SealedOutput::excess() const {
  for (const auto& [fd, what, most] : {std::tuple{said.get(), "said", kMostSaid},
                                       {console.get(), "wrote to its console", kMostConsole},
                                       {complaints.get(), "had QEMU complain", kMostConsole}}) {
    struct stat file {};
    check(::fstat(fd, &file), "asking for the size of a file in memory");
    if (static_cast<std::size_t>(file.st_size) > most)
      return fmt::format("{} {} bytes, at most {} are kept", what, file.st_size, most);
  }
  return {};
}

std::string SealedOutput::why() const {
  const auto complaint = last_lines(file_content(complaints.get(), kMostSaid));
  const auto last = last_lines(file_content(console.get(), kMostSaid));
  return (complaint.empty() ? "" : "\n--- QEMU says:\n" + complaint) +
         (last.empty() ? "" : "\n--- its console:\n" + last);
}

SealedVm start_sealed_vm(std::vector<std::string> arguments, Control control) {
  SealedVm vm;
  int ends[2];
  const int type = control == Control::qmp ? SOCK_STREAM : SOCK_SEQPACKET;
  check(::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends), "creating a socket pair");
  vm.control = OwnFd{ends[0]};
  const OwnFd theirs{ends[1]};
  const OwnFd nothing{check(::open("/dev/null", O_RDWR | O_CLOEXEC), "opening /dev/null")};
  vm.child = Child({.arguments = std::move(arguments),
                    .descriptors = {{nothing.get(), STDIN_FILENO},
                                    {vm.output.complaints.get(), STDOUT_FILENO},
                                    {vm.output.complaints.get(), STDERR_FILENO},
                                    {vm.output.said.get(), kSayFd},
                                    {vm.output.console.get(), kConsoleFd},
                                    {theirs.get(), kControlFd}},
                    .die_with_parent = control == Control::qmp,
                    // A terminal's Ctrl-C is for the owner.
                    .new_process_group = true});
  return vm;
}

}  // namespace longhaul::lab
