// XDR (RFC 4506): words of 4 bytes, big-endian; opaque bytes are filled up to whole words with zeros. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace longhaul::workloads::rpc {

/// Bytes that `length` opaque bytes take in XDR.
constexpr std::size_t padded(std::size_t length) {
  return (length + 3) / 4 * 4;
}

/// Writes into memory of the caller. Beyond its end nothing is written and good() is false.
class XdrWriter {
 public:
  explicit XdrWriter(std::span<std::byte> bytes) : bytes_(bytes) {}

  void word(std::uint32_t value);
  void hyper(std::uint64_t value);
  void flag(bool value) { word(value ? 1 : 0); }
  /// Without a length word.
  void fixed(std::span<const std::byte> value);
  /// A length word, then the bytes.
  void opaque(std::span<const std::byte> value);
  void text(std::string_view value);
  /// Leaves room of whole words for the caller to fill.
  void skip(std::size_t length);

  std::size_t size() const { return size_; }
  bool good() const { return good_; }

 private:
  std::span<std::byte> take(std::size_t length);

  std::span<std::byte> bytes_;
  std::size_t size_ = 0;
  bool good_ = true;
};

/// Reads what somebody else wrote: nothing beyond the end is touched. After the first fault every value is 0 or empty
/// and good() is false, so that a whole message may be read before it is asked.
class XdrReader {
 public:
  explicit XdrReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint32_t word();
  std::uint64_t hyper();
  /// Another word than 0 and 1 is a fault.
  bool flag();
  std::span<const std::byte> fixed(std::size_t length);
  /// More than `most` bytes are a fault.
  std::span<const std::byte> opaque(std::size_t most);
  std::string_view text(std::size_t most);

  std::size_t position() const { return position_; }
  std::size_t left() const { return bytes_.size() - position_; }
  bool good() const { return good_; }
  /// Marks what has been read as faulty.
  void fail() { good_ = false; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  bool good_ = true;
};

}  // namespace longhaul::workloads::rpc
