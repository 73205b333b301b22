/* A registration cache for programs that link it: cc ... $(pkg-config --cflags --libs longhaul-cache)
 *
 * get() registers memory, or finds a region that was registered for it before and put back; put() keeps it registered.
 * Memory that goes (munmap, mremap, brk, madvise) is heard of and forgotten: docs/registration-cache.md has what is
 * guaranteed, and what is never kept. All functions may be called by any thread.
 */
#ifndef LONGHAUL_CACHE_H
#define LONGHAUL_CACHE_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct longhaul_cache;

struct longhaul_cache_statistics {
  uint64_t hits;         /* get() that found a region */
  uint64_t misses;       /* get() that registered one which may be kept */
  uint64_t passed_by;    /* get() that registered one which may not */
  uint64_t evicted;      /* regions that went to make room */
  uint64_t invalidated;  /* regions whose memory went */
  uint64_t regions;      /* in the cache now */
  uint64_t bytes;        /* of their pages */
};

/* A way into the process's one cache, for this protection domain. `settings`: NULL, or "bytes=1GiB,policy=lru,reach=pages",
 * the names behind LONGHAUL_CACHE_ in lower case; the first settings of a process hold. NULL: nothing can be kept safely
 * here, or the settings are none; longhaul_cache_error() says which. */
struct longhaul_cache *longhaul_cache_open(struct ibv_pd *pd, const char *settings);

/* As ibv_reg_mr: NULL and errno where it fails. Regions that peers may reach (IBV_ACCESS_REMOTE_...) are kept, too: a peer
 * that knows the key reaches the memory after put(). */
struct ibv_mr *longhaul_cache_get(struct longhaul_cache *cache, void *address, size_t length, int access);

/* 0 or an errno value, as ibv_dereg_mr, which must not be called for what get() gave. */
int longhaul_cache_put(struct longhaul_cache *cache, struct ibv_mr *mr);

/* Of the whole process. */
void longhaul_cache_read(struct longhaul_cache *cache, struct longhaul_cache_statistics *statistics);

/* Deregisters what is kept in the protection domain: before ibv_dealloc_pd, which else fails with EBUSY. */
void longhaul_cache_close(struct longhaul_cache *cache);

/* Why the last longhaul_cache_open() of this thread failed. */
const char *longhaul_cache_error(void);

#ifdef __cplusplus
}
#endif
#endif
