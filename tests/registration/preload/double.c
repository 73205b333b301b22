#include "tests/registration/preload/double.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

struct pd {
  struct ibv_pd pd;
  int regions;
};

/* Larger than what is public, as a provider's. */
struct region {
  struct ibv_mr mr;
  int type;
  int access;
  char private[64];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int registered, live, last_key;
static unsigned long bytes, most = ~0UL;
static unsigned slow_us;
static enum ibv_fork_status fork_status = IBV_FORK_UNNEEDED;
static uint64_t contents[1 << 16]; /* of the last registrations */

struct ibv_context *double_device(void) { return calloc(1, sizeof(struct ibv_context)); }
struct ibv_pd *double_pd(struct ibv_context *context) {
  struct pd *pd = calloc(1, sizeof *pd);
  pd->pd.context = context;
  return &pd->pd;
}
int double_registered(void) { return registered; }
int double_live(void) { return live; }
void double_limit(unsigned long limit) { most = limit; }
void double_slow(unsigned us) { slow_us = us; }
uint64_t double_content(uint32_t lkey) { return contents[(lkey / 256) & 0xffff]; }
void double_fork_status(enum ibv_fork_status status) { fork_status = status; }

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length, uint64_t iova, unsigned access) {
  (void)iova;
  pthread_mutex_lock(&lock);
  struct region *region = NULL;
  if (bytes + length > most) {
    errno = ENOMEM;
  } else {
    region = calloc(1, sizeof *region);
    region->mr = (struct ibv_mr){pd->context, pd, address, length, (uint32_t)++last_key, 0, 0};
    region->mr.lkey = region->mr.rkey = 256U * (uint32_t)last_key;
    region->access = (int)access;
    if (length >= sizeof *contents && (access & IBV_ACCESS_ON_DEMAND) == 0) contents[last_key & 0xffff] = *(uint64_t *)address;
    bytes += length;
    ++registered;
    ++live;
    ++((struct pd *)pd)->regions;
  }
  pthread_mutex_unlock(&lock);
  return region == NULL ? NULL : &region->mr;
}
struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *address, size_t length, uint64_t iova, int access) {
  return ibv_reg_mr_iova2(pd, address, length, iova, (unsigned)access);
}
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access) {
  return ibv_reg_mr_iova2(pd, address, length, (uintptr_t)address, (unsigned)access);
}
int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *address, size_t length, int access) {
  (void)pd;
  if (flags == 0) return IBV_REREG_MR_ERR_INPUT;
  if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
    mr->addr = address;
    mr->length = length;
  }
  if (flags & IBV_REREG_MR_CHANGE_ACCESS) ((struct region *)mr)->access = access;
  mr->lkey += 1;
  return 0;
}
int ibv_dereg_mr(struct ibv_mr *mr) {
  struct region *region = (struct region *)mr;
  if (region->type != 0) abort(); /* not one of ours, or for the second time */
  if (slow_us > 0) usleep(slow_us);
  pthread_mutex_lock(&lock);
  bytes -= mr->length;
  --live;
  --((struct pd *)mr->pd)->regions;
  pthread_mutex_unlock(&lock);
  region->type = -1;
  free(region);
  return 0;
}
int ibv_dealloc_pd(struct ibv_pd *pd) {
  if (((struct pd *)pd)->regions > 0) return EBUSY;
  free(pd);
  return 0;
}
void ibv_unimport_pd(struct ibv_pd *pd) { free(pd); }
int ibv_close_device(struct ibv_context *context) {
  free(context);
  return live == 0 ? 0 : EBUSY;
}
enum ibv_fork_status ibv_is_fork_initialized(void) { return fork_status; }
