#include "lab/plan/cpio.hh"

#include <fmt/format.h>

#include <set>
#include <stdexcept>

namespace longhaul::lab {
namespace {

constexpr std::uint32_t kDirectory = 0040000;
constexpr std::uint32_t kRegular = 0100000;
constexpr std::size_t kBlock = 512;

void pad(std::string& out, std::size_t to) {
  out.append((to - out.size() % to) % to, '\0');
}

void append(std::string& out, unsigned inode, const std::string& name, std::uint32_t mode, std::uint32_t uid,
            const std::string& bytes) {
  // newc: magic, then 13 numbers of eight hex digits: ino mode uid gid nlink mtime size devmajor devminor rdevmajor
  // rdevminor namesize check
  out += fmt::format("070701{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}{:08x}", inode,
                     mode, uid, uid, 1, 0, bytes.size(), 0, 0, 0, 0, name.size() + 1, 0);
  out += name;
  out += '\0';
  pad(out, 4);
  out += bytes;
  pad(out, 4);
}

}  // namespace

std::string make_cpio(const std::vector<OverlayFile>& files) {
  std::string out;
  std::set<std::string> directories;
  unsigned inode = 1;
  for (const OverlayFile& file : files) {
    if (!file.path.starts_with('/') || file.path.ends_with('/'))
      throw std::invalid_argument(fmt::format("file for the lab '{}': expected an absolute path", file.path));
    const std::string name = file.path.substr(1);
    for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
      if (directories.insert(name.substr(0, slash)).second) {
        // ssh refuses keys in a folder that others may read.
        const bool secret = name.substr(0, slash) == "root" || name.substr(0, slash) == "root/.ssh";
        append(out, inode++, name.substr(0, slash), kDirectory | (secret ? 0700U : 0755U), 0, "");
      }
    append(out, inode++, name, kRegular | file.mode, file.uid, file.bytes);
  }
  append(out, 0, "TRAILER!!!", 0, 0, "");
  pad(out, kBlock);
  return out;
}

}  // namespace longhaul::lab
