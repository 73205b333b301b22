// What lies behind a server's file, by a model: a page cache and disks. It says when the data of a request would be
// there; the data itself is in memory. The same requests at the same times give the same answers. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

#include "model/units.hh"

namespace longhaul::workloads::rpc {

struct DiskSetup {
  std::uint64_t cache = 0;  ///< bytes of memory for pages of the file
  std::size_t disks = 8;    ///< the file is striped over them
  Nanoseconds seek{};       ///< head and rotation, for what does not lie behind the last
  BitRate rate{1};          ///< of one disk
};

class ModelledDisks {
 public:
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::uint64_t kStripe = 65536;

  explicit ModelledDisks(const DiskSetup& setup);

  /// When the bytes are in memory, for a READ that comes `now`; the cache keeps the pages that were used last. A disk
  /// does one thing after another. Times do not go back from one request to the next.
  Nanoseconds read(Nanoseconds now, std::uint64_t offset, std::uint64_t length);
  /// When they are on the disks: a WRITE that is answered as stable. Its pages are in the cache then.
  Nanoseconds write(Nanoseconds now, std::uint64_t offset, std::uint64_t length);

  struct Counters {
    std::uint64_t requests = 0;
    std::uint64_t pages = 0;   ///< that READs asked for
    std::uint64_t cached = 0;  ///< of them
    Nanoseconds waited{};      ///< of all requests together
  };
  const Counters& counters() const { return counters_; }
  void reset() { counters_ = {}; }

 private:
  struct Page {
    std::list<std::uint64_t>::iterator use;
    Nanoseconds ready{};
  };
  struct Disk {
    Nanoseconds free{};
    std::uint64_t head = 0;
  };
  Nanoseconds transfer(Nanoseconds now, std::uint64_t first, std::uint64_t end);
  void keep(std::uint64_t page, Nanoseconds ready);
  Nanoseconds told(Nanoseconds now, Nanoseconds ready);

  DiskSetup setup_;
  std::vector<Disk> disks_;
  std::list<std::uint64_t> uses_;  // pages, the last used first
  std::unordered_map<std::uint64_t, Page> pages_;
  Counters counters_;
};

}  // namespace longhaul::workloads::rpc
