// The kernel's NFS server, and a mount of it. Only root may have them: asked of the helper behind kNfsPipe.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "workloads/protocols/rpc/nfs.hh"

namespace longhaul::workloads::rpc {

/// What the helper does for this process, as long as this lives. Move-only. Every call throws Unsupported where this
/// machine cannot, else std::runtime_error with what the helper's programs said.
class KernelNfs {
 public:
  /// The server exports kNfsExport, an empty folder.
  static KernelNfs serve(std::int64_t threads);
  /// Mounts a server's kNfsExport. `protocol`: tcp or rdma.
  static KernelNfs mount(const std::string& address, const std::string& protocol, std::int64_t transfer,
                         std::int64_t slots);

  KernelNfs(KernelNfs&& other) noexcept : name_(std::exchange(other.name_, {})) {}
  KernelNfs& operator=(KernelNfs&&) = delete;
  ~KernelNfs();

  /// Where it is mounted.
  std::string folder() const;
  /// The handles of files in the folder that is served, as hexadecimal digits: clients need no other way to them.
  std::vector<std::string> handles(const std::vector<std::string>& names) const;

 private:
  explicit KernelNfs(std::string name) : name_(std::move(name)) {}
  static KernelNfs begin(const std::string& verb, const std::string& rest);
  std::string ask(const std::string& verb, const std::string& rest) const;
  std::string name_;  // empty: moved from
};

/// A handle from its digits. Throws std::runtime_error.
nfs::FileHandle handle_of(const std::string& digits);

}  // namespace longhaul::workloads::rpc
