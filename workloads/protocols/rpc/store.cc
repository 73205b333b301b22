#include "workloads/protocols/rpc/store.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace longhaul::workloads::rpc {
namespace {

// A prime, so that pages, blocks and segments at wrong places show.
constexpr std::uint64_t kPeriod = 251;
constexpr std::size_t kEnds = 64;
constexpr std::string_view kEntry = "entry-";
constexpr std::size_t kLetters = 23;           // a prime, as above
constexpr std::size_t kReaddirOverhead = 128;  // of a result beside its entries

std::byte content_at(std::uint64_t offset) {
  return static_cast<std::byte>(offset % kPeriod);
}

nfs::FileHandle handle(char kind) {
  const std::array<char, 8> bytes{'l', 'o', 'n', 'g', 'h', 'a', 'u', kind};
  return nfs::FileHandle::of(std::as_bytes(std::span{bytes}));
}

// Some periods: a run from any place of the first is one memcpy.
const std::vector<std::byte>& pattern() {
  static const std::vector<std::byte> bytes = [] {
    std::vector<std::byte> all(kPeriod * 64);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = content_at(i);
    return all;
  }();
  return bytes;
}

}  // namespace

void fill_content(std::span<std::byte> bytes, std::uint64_t offset) {
  const auto& source = pattern();
  while (!bytes.empty()) {
    const auto begin = static_cast<std::size_t>(offset % kPeriod);
    const auto length = std::min(bytes.size(), source.size() - begin);
    std::memcpy(bytes.data(), source.data() + begin, length);
    bytes = bytes.subspan(length);
    offset += length;
  }
}

std::string content_fault(std::span<const std::byte> bytes, std::uint64_t offset) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (bytes[i] != content_at(offset + i))
      return fmt::format("corrupted payload: the file's byte {} is {}, not {}", offset + i,
                         std::to_integer<int>(bytes[i]), std::to_integer<int>(content_at(offset + i)));
  return {};
}

std::string content_fault_at_ends(std::span<const std::byte> bytes, std::uint64_t offset) {
  const auto length = std::min(bytes.size(), kEnds);
  auto fault = content_fault(bytes.first(length), offset);
  return fault.empty() ? content_fault(bytes.last(length), offset + bytes.size() - length) : fault;
}

MemoryStore::MemoryStore(std::uint64_t file_size, std::size_t entries, std::size_t link)
    : content_(file_size), target_(path(link)) {
  fill_content(content_, 0);
  for (std::size_t i = 0; i < entries; ++i) entries_.push_back({100 + i, name(i), i + 1});
}

std::string MemoryStore::name(std::size_t index) {
  return fmt::format("{}{:06}", kEntry, index);
}

bool MemoryStore::has_name(std::string_view name) {
  if (name == "." || name == "..") return true;
  return name.starts_with(kEntry) &&
         std::ranges::all_of(name.substr(kEntry.size()), [](char c) { return c >= '0' && c <= '9'; });
}

std::string MemoryStore::path(std::size_t length) {
  std::string all(length, '\0');
  for (std::size_t i = 0; i < length; ++i) all[i] = static_cast<char>('a' + i % kLetters);
  return all;
}

nfs::FileHandle MemoryStore::file() {
  return handle('F');
}

nfs::FileHandle MemoryStore::directory() {
  return handle('D');
}

nfs::FileHandle MemoryStore::link() {
  return handle('L');
}

nfs::ReadResult MemoryStore::read(const nfs::ReadArguments& arguments) const {
  nfs::ReadResult result;
  if (arguments.file != file()) {
    result.status = nfs::Status::stale;
    return result;
  }
  const auto begin = std::min<std::uint64_t>(arguments.offset, content_.size());
  const auto length = std::min<std::uint64_t>(arguments.count, content_.size() - begin);
  result.attributes = nfs::Attributes{.size = content_.size(), .file_id = 1};
  result.payload = std::span{content_}.subspan(begin, length);
  result.length = static_cast<std::uint32_t>(length);
  result.end = begin + length == content_.size();
  return result;
}

nfs::WriteResult MemoryStore::write(const nfs::WriteArguments& arguments) {
  nfs::WriteResult result;
  const auto length = arguments.payload.size();
  if (arguments.file != file())
    result.status = nfs::Status::stale;
  else if (arguments.offset > content_.size() || length > content_.size() - arguments.offset)
    result.status = nfs::Status::invalid;
  else if (!content_fault_at_ends(arguments.payload, arguments.offset).empty())
    result.status = nfs::Status::io;
  if (result.status != nfs::Status::ok) return result;
  std::copy(arguments.payload.begin(), arguments.payload.end(),
            content_.begin() + static_cast<std::ptrdiff_t>(arguments.offset));
  result.count = static_cast<std::uint32_t>(length);
  result.committed = nfs::Stable::file;
  return result;
}

nfs::ReaddirResult MemoryStore::readdir(const nfs::ReaddirArguments& arguments) const {
  nfs::ReaddirResult result;
  if (arguments.directory != directory()) {
    result.status = nfs::Status::stale;
    return result;
  }
  std::size_t room = arguments.count > kReaddirOverhead ? arguments.count - kReaddirOverhead : 0;
  auto next = static_cast<std::size_t>(std::min<std::uint64_t>(arguments.cookie, entries_.size()));
  for (; next < entries_.size(); ++next) {
    const auto size = nfs::size_of_entry(entries_[next].name);
    if (size > room) break;
    room -= size;
    result.entries.push_back(entries_[next]);
  }
  result.end = next == entries_.size();
  return result;
}

nfs::ReadlinkResult MemoryStore::readlink(const nfs::FileHandle& handle) const {
  if (handle != link()) return {.status = nfs::Status::invalid};
  return {.path = target_};
}

}  // namespace longhaul::workloads::rpc
