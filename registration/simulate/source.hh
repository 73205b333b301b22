// A file as a stream of bytes, decompressed where it is zstd.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "common/fd.hh"
#include "common/result.hh"

namespace longhaul::registration {

class Source {
 public:
  static Result<Source> open(const std::filesystem::path& path);
  Source(Source&&) noexcept;
  Source& operator=(Source&&) noexcept;
  ~Source();

  /// The next line without its end; none at the end of the file. The text is valid until the next call. Refuses
  /// lines beyond 64 KiB and a broken archive.
  Result<bool> line(std::string_view& text);
  /// Exactly `size` bytes; none where the file ends before the first of them. An error where it ends within.
  Result<bool> record(std::size_t size, std::string_view& bytes);

  const std::string& name() const { return name_; }
  std::uint64_t lines() const { return lines_; }    ///< read so far
  std::uint64_t offset() const { return offset_; }  ///< bytes handed out, after decompression
  double fraction() const;                          ///< of the file on disk, for progress

 private:
  struct Zstd;
  Source();
  Result<bool> fill();

  std::string name_;
  OwnFd fd_;
  std::uint64_t size_ = 0;
  std::uint64_t read_ = 0;
  std::unique_ptr<Zstd> zstd_;
  std::string buffer_;
  std::size_t begin_ = 0;
  bool ended_ = false;
  std::uint64_t lines_ = 0;
  std::uint64_t offset_ = 0;
};

}  // namespace longhaul::registration
