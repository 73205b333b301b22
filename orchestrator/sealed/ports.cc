#include "orchestrator/sealed/ports.hh"

#include <fcntl.h>
#include <linux/random.h>
#include <sys/io.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <vector>

#include "common/error.hh"
#include "common/fd.hh"
#include "lab/sealed_ports.hh"

namespace longhaul::orchestrator {
namespace {

// QEMU's docs/specs/fw_cfg: a selector, a data port that gives byte after byte, a directory of files.
constexpr std::uint16_t kSelector = 0x510, kData = 0x511;
constexpr std::uint16_t kDirectory = 0x19;
constexpr std::size_t kNameSize = 56;

// The C library's insb and outsb do not tell the compiler that they touch memory: inlined, it takes what was read for
// the zeros that were there, and what is to be said need not have been written yet.
void touched(const void* memory) {
  asm volatile("" : : "r"(memory) : "memory");
}

std::string read_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  touched(bytes.data());
  insb(kData, bytes.data(), count);
  touched(bytes.data());
  return bytes;
}

std::uint32_t big_endian(const std::string& bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8U | static_cast<unsigned char>(bytes.at(at + i));
  return value;
}

}  // namespace

void open_ports() {
  for (const auto& [port, count] :
       {std::pair{lab::kSayPort, 1}, {lab::kEndPort, 1}, {lab::kKeepPort, 1}, {kSelector, 2}})
    check(::ioperm(port, static_cast<unsigned long>(count), 1), "asking for a port");
}

void say(std::string_view text) {
  touched(text.data());
  outsb(lab::kSayPort, text.data(), text.size());
}

void stop_here() {
  outb(1, lab::kKeepPort);
}

std::string read_order() {
  outw(kDirectory, kSelector);
  const auto files = big_endian(read_bytes(4), 0, 4);
  for (std::uint32_t i = 0; i < files; ++i) {
    const auto entry = read_bytes(8 + kNameSize);
    if (std::strcmp(entry.c_str() + 8, lab::kOrderName) != 0) continue;
    const auto size = big_endian(entry, 0, 4);
    outw(static_cast<std::uint16_t>(big_endian(entry, 4, 2)), kSelector);
    return read_bytes(size);
  }
  throw std::runtime_error("this machine was given no order");
}

void end_copy() {
  outb(0, lab::kEndPort);
  for (;;) ::pause();
}

void seed_kernel(std::uint64_t seed) {
  const OwnFd random{check(::open("/dev/urandom", O_RDWR | O_CLOEXEC), "opening /dev/urandom")};
  std::vector<unsigned char> request(sizeof(rand_pool_info) + sizeof seed);
  auto* pool = reinterpret_cast<rand_pool_info*>(request.data());
  pool->entropy_count = 0;
  pool->buf_size = sizeof seed;
  std::memcpy(pool->buf, &seed, sizeof seed);
  check(::ioctl(random.get(), RNDADDENTROPY, pool), "giving the kernel a seed");
  check(::ioctl(random.get(), RNDRESEEDCRNG), "seeding the kernel's random numbers");
}

}  // namespace longhaul::orchestrator
