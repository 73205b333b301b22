// The memory of a connection's end: page-aligned, touched before use, the same for every transport.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace longhaul::workloads {

/// Move-only owner of an anonymous mapping, zeroed and populated.
class Memory {
 public:
  Memory() = default;
  /// Throws std::system_error when there is not enough.
  explicit Memory(std::size_t size);
  Memory(Memory&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Memory& operator=(Memory&& other) noexcept;
  ~Memory() { release(); }

  std::span<std::byte> bytes() const { return {data_, size_}; }

 private:
  void release() noexcept;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace longhaul::workloads
