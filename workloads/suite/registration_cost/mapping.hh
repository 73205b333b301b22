// The memory that is registered: of which pages, and whether they are there.
#pragma once

#include <cstddef>
#include <string>

#include "common/fd.hh"

namespace longhaul::workloads::registration_cost {

enum class Presence { present, absent, file };

/// Move-only owner of a mapping.
class Mapping {
 public:
  /// Throws Unsupported where there are no huge pages or the file system maps no file, std::system_error else.
  Mapping(std::size_t size, Presence presence, bool huge);
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { unmap(); }

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  /// Maps it anew if its pages are to be absent, else does nothing.
  void renew();
  /// Touches every page of `step` bytes, so that it is there.
  void touch(std::size_t step);

 private:
  void map();
  void unmap() noexcept;

  std::size_t size_;
  Presence presence_;
  bool huge_;
  OwnFd file_;
  std::byte* data_ = nullptr;
};

}  // namespace longhaul::workloads::registration_cost
