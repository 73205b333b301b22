#include "workloads/protocols/reuse.hh"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "registration/simulate/generator.hh"
#include "registration/simulate/trace.hh"

namespace longhaul::workloads {
namespace {

using registration::kPageSize;
using registration::Pages;

constexpr std::size_t kMessages = 4096;
constexpr std::uint64_t kMostPages = std::uint64_t{256} << 20 >> 12;  // of an area

Attempt<std::vector<Pages>> first_of(registration::Trace& trace) {
  std::vector<Pages> all;
  std::vector<Pages> batch;
  do {
    if (auto read = trace.next(batch); !read) return failed_by(read.error());
    all.insert(all.end(), batch.begin(), batch.end());
  } while (!batch.empty() && all.size() < kMessages);
  all.resize(std::min(all.size(), kMessages));
  return all;
}

// A trace's pages lie anywhere in 64 bits. Runs of pages that are used come next to one another, with a page between;
// within a run nothing moves. Returns the end.
std::uint64_t pack(std::vector<Pages>& requests) {
  auto sorted = requests;
  std::sort(sorted.begin(), sorted.end(), [](Pages a, Pages b) { return a.first < b.first; });
  struct Run {
    std::uint64_t end;
    std::uint64_t moved;  // to where
  };
  std::map<std::uint64_t, Run> runs;  // by first page
  std::uint64_t next = 0;
  for (const auto& pages : sorted) {
    if (runs.empty() || pages.first > runs.rbegin()->second.end) {
      if (!runs.empty()) next += runs.rbegin()->second.end - runs.rbegin()->first + 1;
      runs.emplace(pages.first, Run{pages.end(), next});
    } else {
      auto& end = runs.rbegin()->second.end;
      end = std::max(end, pages.end());
    }
  }
  for (auto& pages : requests) {
    const auto run = std::prev(runs.upper_bound(pages.first));
    pages.first = run->second.moved + (pages.first - run->first);
  }
  return runs.empty() ? 0 : next + (runs.rbegin()->second.end - runs.rbegin()->first);
}

bool are_disjoint(std::vector<Extent> extents) {
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.length < b.length;
  });
  for (std::size_t i = 1; i < extents.size(); ++i) {
    const auto& before = extents[i - 1];
    const bool same = extents[i].offset == before.offset && extents[i].length == before.length;
    if (!same && extents[i].offset < before.offset + before.length) return false;
  }
  return true;
}

Attempt<Reuse> of_pages(std::vector<Pages> requests, const std::string& what) {
  if (requests.empty()) return wrong_input("{} has no request", what);
  const auto pages = pack(requests);
  if (pages > kMostPages)
    return wrong_input("the first {} messages of {} use {} MiB of buffers; at most {} MiB are mapped for them",
                       requests.size(), what, pages >> 8, kMostPages >> 8);
  Reuse reuse;
  reuse.area = pages * kPageSize;
  for (const auto& request : requests) {
    reuse.order.push_back({request.first * kPageSize, request.count * kPageSize});
    reuse.longest = std::max(reuse.longest, reuse.order.back().length);
  }
  reuse.disjoint = are_disjoint(reuse.order);
  return reuse;
}

Attempt<Reuse> of_trace(const std::string& path) {
  const auto format = registration::guess_format(path);
  if (!format) return failed_by(format.error());
  auto trace = registration::open_trace(path, *format, {});
  if (!trace) return failed_by(trace.error());
  auto requests = first_of(**trace);
  if (!requests) return tl::unexpected(requests.error());
  return of_pages(std::move(*requests), path);
}

// Anywhere in as much memory as so many buffers take: what is asked for overlaps what was asked for before.
Reuse anywhere(std::size_t size, std::size_t buffers) {
  const auto pages = (size + kPageSize - 1) / kPageSize;
  const auto segments = pages * (buffers - 1) + 1;
  std::mt19937 random{1};  // the standard fixes its numbers
  Reuse reuse;
  reuse.area = pages * buffers * kPageSize;
  reuse.longest = size;
  for (std::size_t i = 0; i < kMessages; ++i) reuse.order.push_back({random() % segments * kPageSize, size});
  reuse.disjoint = are_disjoint(reuse.order);
  return reuse;
}

// But for the payload.
Attempt<Reuse> buffers_of(const WorkloadSpec& spec, const Parameters& parameters) {
  const auto size = static_cast<std::size_t>(integer(parameters, spec.parameters, "size"));
  const auto buffers = static_cast<std::size_t>(integer(parameters, spec.parameters, "buffers"));
  const auto how = text(parameters, spec.parameters, "reuse");
  if (how == "same") return Reuse::same(size);
  if (how == "anywhere") return anywhere(size, buffers);
  if (how == "httpd" || how == "cello92") {
    registration::GeneratorOptions options;
    options.requests = kMessages;
    options.objects = buffers;
    options.sizes = how == "httpd" ? registration::Sizes::httpd : registration::Sizes::cello92;
    auto requests = first_of(*registration::generate(options));
    if (!requests) return tl::unexpected(requests.error());
    return of_pages(std::move(*requests), how);
  }
  return of_trace(how);
}

}  // namespace

void fill(std::span<std::byte> area, const Reuse& reuse, pingpong::Direction direction) {
  std::set<std::size_t> filled;
  for (const auto& extent : reuse.order)
    if (filled.insert(extent.offset).second)
      pingpong::fill(area.subspan(extent.offset, extent.length), direction, 0, reuse.payload);
}

Attempt<Reuse> reuse_of(const WorkloadSpec& spec, const Parameters& parameters) {
  auto reuse = buffers_of(spec, parameters);
  if (reuse) reuse->payload = payload_of(spec, parameters);
  return reuse;
}

}  // namespace longhaul::workloads
