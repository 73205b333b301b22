#include "workloads/transport/memory.hh"

#include <sys/mman.h>

#include "common/error.hh"

namespace longhaul::workloads {

Memory::Memory(std::size_t size) : size_(size) {
  void* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (data == MAP_FAILED) throw_errno(fmt::format("map {} bytes of message memory", size));
  data_ = static_cast<std::byte*>(data);
}

Memory& Memory::operator=(Memory&& other) noexcept {
  if (this != &other) {
    release();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

void Memory::release() noexcept {
  if (data_ != nullptr) ::munmap(data_, size_);
  data_ = nullptr;
}

}  // namespace longhaul::workloads
