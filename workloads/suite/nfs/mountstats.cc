#include "workloads/suite/nfs/mountstats.hh"

#include <sstream>
#include <vector>

namespace longhaul::workloads::nfs {
namespace {

// Behind "xprt:" and the protocol (net/sunrpc/xprtrdma/transport.c, xprt_rdma_print_stats).
constexpr std::size_t kReadChunks = 10;
constexpr std::size_t kWriteChunks = 11;

std::vector<std::uint64_t> numbers(std::istringstream& words) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t number = 0; words >> number;) all.push_back(number);
  return all;
}

std::uint64_t at(const std::vector<std::uint64_t>& all, std::size_t index) {
  return index < all.size() ? all[index] : 0;
}

}  // namespace

std::optional<MountStatistics> read_mountstats(std::string_view text, std::string_view mount_point,
                                               std::string_view name) {
  const auto procedure = std::string{name} + ":";
  std::optional<MountStatistics> found;
  bool ours = false;
  std::istringstream lines{std::string{text}};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string word;
    if (!(words >> word)) continue;
    if (word == "device") {
      std::string what, mounted, on, where;
      ours = words >> what >> mounted >> on >> where && where == mount_point;
      if (ours) found.emplace();
    } else if (ours && word == "xprt:") {
      words >> found->protocol;
      const auto counts = numbers(words);
      if (found->protocol == "rdma") found->chunks = at(counts, kReadChunks) + at(counts, kWriteChunks);
    } else if (ours && word == procedure) {
      const auto counts = numbers(words);
      found->calls = at(counts, 0);
      found->transmissions = at(counts, 1);
    }
  }
  return found;
}

}  // namespace longhaul::workloads::nfs
