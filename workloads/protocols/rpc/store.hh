// What our server serves, in memory: one file, one directory, one symbolic link. The file's content follows from the
// offset, so that either end knows every byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/protocols/rpc/disks.hh"
#include "workloads/protocols/rpc/nfs.hh"

namespace longhaul::workloads::rpc {

/// The bytes of the file from `offset` on.
void fill_content(std::span<std::byte> bytes, std::uint64_t offset);
/// The first byte that differs, in words; empty: none does.
std::string content_fault(std::span<const std::byte> bytes, std::uint64_t offset);
/// The same for the first and the last bytes only: cheap enough for each message.
std::string content_fault_at_ends(std::span<const std::byte> bytes, std::uint64_t offset);

class MemoryStore {
 public:
  /// The directory's entry number `index`, counted from 0; and whether a name may be one of them, "." or "..".
  static std::string name(std::size_t index);
  static bool has_name(std::string_view name);
  /// A link's target of so many bytes.
  static std::string path(std::size_t length);

  /// `entries`: of the directory. The link's target has `link` bytes.
  MemoryStore(std::uint64_t file_size, std::size_t entries, std::size_t link);

  static nfs::FileHandle file();
  static nfs::FileHandle directory();
  static nfs::FileHandle link();
  std::uint64_t file_size() const { return content_.size(); }

  /// The file is on disks from now on, by the model: its server has to wait for them.
  void lie_on(const DiskSetup& setup) { disks_.emplace(setup); }
  ModelledDisks* disks() { return disks_ ? &*disks_ : nullptr; }

  /// The bytes of the file that a READ of these arguments gives; their place stays as long as the store.
  nfs::ReadResult read(const nfs::ReadArguments& arguments) const;
  /// Takes the payload. Refuses what goes beyond the file's end, and content that is not the file's (Status::io).
  nfs::WriteResult write(const nfs::WriteArguments& arguments);
  nfs::ReaddirResult readdir(const nfs::ReaddirArguments& arguments) const;
  nfs::ReadlinkResult readlink(const nfs::FileHandle& handle) const;

 private:
  std::vector<std::byte> content_;
  std::vector<nfs::Entry> entries_;
  std::string target_;
  std::optional<ModelledDisks> disks_;
};

}  // namespace longhaul::workloads::rpc
