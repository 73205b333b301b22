#include <algorithm>
#include <cerrno>
#include <exception>
#include <numeric>

#include "registration/preload/longhaul/cache.h"
#include "registration/preload/process.hh"

#define LONGHAUL_EXPORT extern "C" __attribute__((visibility("default")))

struct longhaul_cache {
  ibv_pd* pd;
  longhaul::registration::Keeper* keeper;
};

namespace {

constexpr std::size_t kRoom = 512;
thread_local char last_error[kRoom];  // no string: it would have to be destroyed with the thread

longhaul_cache* refuse(const std::string& why) {
  const auto size = std::min(why.size(), kRoom - 1);
  std::copy_n(why.data(), size, last_error);
  last_error[size] = '\0';
  return nullptr;
}

}  // namespace

LONGHAUL_EXPORT longhaul_cache* longhaul_cache_open(ibv_pd* pd, const char* settings) {
  try {
    const auto keeper = longhaul::registration::Process::keeper_with(settings == nullptr ? "" : settings);
    return keeper ? new longhaul_cache{pd, *keeper} : refuse(keeper.error().message);
  } catch (const std::exception& error) {
    return refuse(error.what());
  }
}

LONGHAUL_EXPORT ibv_mr* longhaul_cache_get(longhaul_cache* cache, void* address, std::size_t length, int access) {
  return cache->keeper->add(
      {cache->pd, address, length, reinterpret_cast<std::uint64_t>(address), static_cast<unsigned>(access)}, true);
}

LONGHAUL_EXPORT int longhaul_cache_put(longhaul_cache* cache, ibv_mr* mr) {
  return cache->keeper->remove(mr);
}

LONGHAUL_EXPORT void longhaul_cache_read(longhaul_cache* cache, longhaul_cache_statistics* statistics) {
  const auto all = cache->keeper->statistics();
  *statistics = {
      all.hits,    all.misses,      std::accumulate(all.passed_by.begin(), all.passed_by.end(), std::uint64_t{0}),
      all.evicted, all.invalidated, all.regions,
      all.bytes};
}

LONGHAUL_EXPORT void longhaul_cache_close(longhaul_cache* cache) {
  cache->keeper->flush(cache->pd);
  delete cache;
}

LONGHAUL_EXPORT const char* longhaul_cache_error() {
  return last_error;
}
