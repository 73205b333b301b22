#include "workloads/suite/registration_cost/mapping.hh"

#include <fcntl.h>
#include <linux/mman.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "common/error.hh"
#include "workloads/harness/session.hh"

namespace longhaul::workloads::registration_cost {
namespace {

constexpr std::size_t kHuge = std::size_t{2} << 20;

// A file that is gone when it is closed, its content in the page cache.
OwnFd make_file(std::size_t size) {
  const char* folder = std::getenv("TMPDIR");
  OwnFd file{::open(folder != nullptr ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)};
  if (!file) {
    std::string path = std::string{folder != nullptr ? folder : "/tmp"} + "/longhaul-XXXXXX";
    file = OwnFd{::mkostemp(path.data(), O_CLOEXEC)};
    if (!file) throw_errno("create a file in " + std::string{folder != nullptr ? folder : "/tmp (see TMPDIR)"});
    ::unlink(path.c_str());
  }
  const std::vector<char> block(1 << 16, 1);
  for (std::size_t done = 0; done < size;) {
    const auto wrote = ::write(file.get(), block.data(), std::min(block.size(), size - done));
    if (wrote < 0) throw_errno(fmt::format("write a file of {} bytes", size));
    done += static_cast<std::size_t>(wrote);
  }
  return file;
}

}  // namespace

Mapping::Mapping(std::size_t size, Presence presence, bool huge)
    : size_(huge ? (size + kHuge - 1) / kHuge * kHuge : size), presence_(presence), huge_(huge) {
  if (presence == Presence::file) {
    if (huge) throw Unsupported("files have no pages of 2 MiB here: leave --page-size out");
    file_ = make_file(size_);
  }
  map();
  if (presence != Presence::absent) touch(4096);
}

void Mapping::map() {
  const int flags = file_ ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | (huge_ ? MAP_HUGETLB | MAP_HUGE_2MB : 0);
  void* data = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, flags, file_ ? file_.get() : -1, 0);
  if (data == MAP_FAILED) {
    if (huge_ && errno == ENOMEM)
      throw Unsupported(
          fmt::format("there are not {} free pages of 2 MiB: sysctl vm.nr_hugepages={}, or a smaller "
                      "--size",
                      size_ / kHuge, size_ / kHuge + 2));
    throw_errno(fmt::format("map {} bytes", size_));
  }
  data_ = static_cast<std::byte*>(data);
  // Else the kernel takes huge pages wherever it finds some, and 4 KiB are not 4 KiB.
  if (!huge_ && !file_) ::madvise(data_, size_, MADV_NOHUGEPAGE);
}

void Mapping::unmap() noexcept {
  if (data_ != nullptr) ::munmap(data_, size_);
  data_ = nullptr;
}

void Mapping::renew() {
  if (presence_ != Presence::absent) return;
  unmap();
  map();
}

void Mapping::touch(std::size_t step) {
  for (std::size_t at = 0; at < size_; at += step) {
    auto* const byte = reinterpret_cast<volatile char*>(data_ + at);
    *byte = 1;
  }
}

}  // namespace longhaul::workloads::registration_cost
