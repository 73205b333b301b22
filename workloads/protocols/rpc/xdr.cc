#include "workloads/protocols/rpc/xdr.hh"

#include <algorithm>

namespace longhaul::workloads::rpc {

std::span<std::byte> XdrWriter::take(std::size_t length) {
  if (!good_ || length > bytes_.size() - size_) {
    good_ = false;
    return {};
  }
  const auto taken = bytes_.subspan(size_, length);
  size_ += length;
  return taken;
}

void XdrWriter::word(std::uint32_t value) {
  const auto at = take(4);
  for (std::size_t i = 0; i < at.size(); ++i) at[i] = static_cast<std::byte>(value >> (24 - 8 * i));
}

void XdrWriter::hyper(std::uint64_t value) {
  word(static_cast<std::uint32_t>(value >> 32));
  word(static_cast<std::uint32_t>(value));
}

void XdrWriter::fixed(std::span<const std::byte> value) {
  const auto at = take(padded(value.size()));
  if (at.empty()) return;
  const auto end = std::copy(value.begin(), value.end(), at.begin());
  std::fill(end, at.end(), std::byte{0});
}

void XdrWriter::opaque(std::span<const std::byte> value) {
  word(static_cast<std::uint32_t>(value.size()));
  fixed(value);
}

void XdrWriter::text(std::string_view value) {
  opaque(std::as_bytes(std::span{value}));
}

void XdrWriter::skip(std::size_t length) {
  take(padded(length));
}

std::uint32_t XdrReader::word() {
  if (!good_ || left() < 4) {
    good_ = false;
    return 0;
  }
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | std::to_integer<std::uint32_t>(bytes_[position_++]);
  return value;
}

std::uint64_t XdrReader::hyper() {
  const auto high = word();
  return std::uint64_t{high} << 32 | word();
}

bool XdrReader::flag() {
  const auto value = word();
  if (value > 1) good_ = false;
  return value == 1 && good_;
}

std::span<const std::byte> XdrReader::fixed(std::size_t length) {
  if (!good_ || length > left() || padded(length) > left()) {
    good_ = false;
    return {};
  }
  const auto value = bytes_.subspan(position_, length);
  position_ += padded(length);
  return value;
}

std::span<const std::byte> XdrReader::opaque(std::size_t most) {
  const std::size_t length = word();
  if (length > most) good_ = false;
  return good_ ? fixed(length) : std::span<const std::byte>{};
}

std::string_view XdrReader::text(std::size_t most) {
  const auto bytes = opaque(most);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace longhaul::workloads::rpc
