// Objects (files, URLs) in memory: each has a range of its own, in the order of first sight, one page of gap behind
// it (PAPERS.md, the paragraph on the NASA log).
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <vector>

#include "registration/cache/pages.hh"

namespace longhaul::registration {

template <typename Name>
class Objects {
 public:
  explicit Objects(std::uint64_t largest) : largest_(largest) {}

  /// Before any request: an object is as large as its largest request.
  void see(const Name& name, std::uint64_t bytes) {
    auto& size = objects_[name].bytes;
    size = std::max(size, bytes);
  }

  /// All of an object: fill() has the requests for it. The one before is through.
  void request(const Name& name) {
    auto& object = objects_[name];
    const auto pages = std::max<std::uint64_t>(1, (object.bytes + kPageSize - 1) / kPageSize);
    if (!object.placed) {
      object.first = next_;
      object.placed = true;
      next_ += pages + 1;
    }
    asked_ = {object.first, pages};
  }

  /// Appends what is to be requested, none longer than the largest allowed, until there are `most` of them: one object
  /// may be millions. True: there are.
  bool fill(std::vector<Pages>& requests, std::size_t most) {
    while (asked_.count > 0 && requests.size() < most) {
      const auto pages = std::min(largest_, asked_.count);
      requests.push_back({asked_.first, pages});
      asked_ = {asked_.first + pages, asked_.count - pages};
    }
    return requests.size() >= most;
  }

 private:
  struct Object {
    std::uint64_t bytes = 0;
    std::uint64_t first = 0;
    bool placed = false;
  };
  std::uint64_t largest_;
  std::uint64_t next_ = 0;
  Pages asked_{0, 0};
  boost::unordered_flat_map<Name, Object> objects_;
};

}  // namespace longhaul::registration
