#include "results/store/sqlite/medium.hh"

#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>

namespace longhaul::results {
namespace {

// linux/magic.h, statfs(2) and their own sources. FUSE: sshfs and glusterfs are such, and what is not does no harm.
constexpr std::uint32_t kNetwork[] = {
    0x6969,      // NFS
    0xFF534D42,  // CIFS
    0xFE534D42,  // SMB2
    0x517B,      // SMB
    0x00C36400,  // Ceph
    0x5346414F,  // AFS
    0x6B414653,  // kAFS
    0x73757245,  // Coda
    0x01021997,  // 9P
    0x65735546,  // FUSE
    0x0BD00BD0,  // Lustre
    0x47504653,  // GPFS
    0x19830326,  // BeeGFS
    0x20030528,  // OrangeFS
    0x7461636F,  // OCFS2
    0x01161970,  // GFS2
};

}  // namespace

Medium medium_of_type(long type) {
  const auto known = std::find(std::begin(kNetwork), std::end(kNetwork), static_cast<std::uint32_t>(type));
  return known == std::end(kNetwork) ? Medium::local : Medium::network;
}

Medium medium_of(const std::filesystem::path& directory) {
  struct statfs system {};
  return ::statfs(directory.c_str(), &system) == 0 ? medium_of_type(system.f_type) : Medium::local;
}

bool has_rollback_journal(const std::filesystem::path& file) {
  constexpr std::size_t kWriteVersion = 18;
  std::ifstream stream{file, std::ios::binary};
  std::array<char, kWriteVersion + 1> head{};
  return stream.read(head.data(), head.size()) && head[kWriteVersion] == 1;
}

}  // namespace longhaul::results
