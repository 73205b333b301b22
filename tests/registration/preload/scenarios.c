/* A program that uses verbs as programs do; it knows nothing of the cache. Each scenario checks what a program may expect
 * with the cache and without, and prints how often the device registered. Built as a plugin, too (main is its entry). */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/registration/preload/double.h"

#define EXPECT(what)                                                \
  do {                                                              \
    if (!(what)) {                                                  \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
      exit(1);                                                      \
    }                                                               \
  } while (0)

enum { kPage = 4096, kLocal = IBV_ACCESS_LOCAL_WRITE, kRemote = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE };

static struct ibv_context *device;
static struct ibv_pd *pd;

static char *map(size_t pages) {
  char *memory = mmap(NULL, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(memory != MAP_FAILED);
  return memory;
}

static struct ibv_mr *use(char *memory, size_t length, int access) {
  struct ibv_mr *mr = ibv_reg_mr(pd, memory, length, access);
  EXPECT(mr != NULL);
  EXPECT(mr->addr == memory && mr->length == length && mr->pd == pd && mr->context == device && mr->lkey != 0);
  return mr;
}

static void again(char *memory, size_t length, int access, int times) {
  for (int i = 0; i < times; ++i) EXPECT(ibv_dereg_mr(use(memory, length, access)) == 0);
}

static void close_all(void) {
  EXPECT(ibv_dealloc_pd(pd) == 0);
  EXPECT(double_live() == 0);
  EXPECT(ibv_close_device(device) == 0);
}

static void keep(void) {
  char *memory = map(8);
  again(memory + 100, 5000, kLocal, 100);
  /* Two at once have a structure each. */
  struct ibv_mr *one = use(memory + 100, 5000, kLocal);
  struct ibv_mr *two = use(memory + 100, 5000, kLocal);
  EXPECT(one != two);
  EXPECT(ibv_dereg_mr(one) == 0);
  EXPECT(two->addr == memory + 100);
  EXPECT(ibv_dereg_mr(two) == 0);
  close_all();
}

static void other_range(void) {
  char *memory = map(8);
  again(memory, 4 * kPage, kLocal, 3);
  again(memory, kPage, kLocal, 3);
  again(memory + kPage, 100, kLocal, 3);
  close_all();
}

static void passed_by(void) {
  char *memory = map(8);
  again(memory, kPage, kRemote, 5);
  again(memory, kPage, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND, 5);
  again(memory, kPage, IBV_ACCESS_ON_DEMAND, 5);
  char *shared = mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  again(shared, kPage, kLocal, 5);
  struct ibv_mr *mr = ibv_reg_mr_iova(pd, memory, kPage, 4096, kLocal);
  EXPECT(mr != NULL && ibv_dereg_mr(mr) == 0);
  EXPECT(double_live() == 0);
  close_all();
}

static void shared_memory(void) {
  char *memory = mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  again(memory, kPage, kLocal, 5);
  close_all();
}

static void busy(void) {
  struct ibv_mr *mr = use(map(1), kPage, kLocal);
  again(map(1), kPage, kLocal, 2);
  EXPECT(ibv_dealloc_pd(pd) == EBUSY);
  EXPECT(double_live() == 1);
  EXPECT(ibv_dereg_mr(mr) == 0);
  close_all();
}

static void device_closed(void) {
  again(map(1), kPage, kLocal, 2);
  EXPECT(ibv_close_device(device) == 0);
  EXPECT(double_live() == 0);
}

static void unmapped(void) {
  char *memory = map(4);
  for (int i = 0; i < 50; ++i) {
    again(memory, 4 * kPage, kLocal, 2);
    EXPECT(mmap(memory, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == memory);
    again(memory, 4 * kPage, kLocal, 2);
    EXPECT(madvise(memory + kPage, kPage, MADV_DONTNEED) == 0);
  }
  /* In use while its mapping goes: still the program's, until it deregisters it. */
  struct ibv_mr *mr = use(memory, 4 * kPage, kLocal);
  EXPECT(munmap(memory, 4 * kPage) == 0);
  EXPECT(ibv_dereg_mr(mr) == 0);
  close_all();
}

static void forked(void) {
  char *memory = map(2);
  struct ibv_mr *held = use(memory, kPage, kLocal);
  again(memory + kPage, kPage, kLocal, 2);
  const pid_t child = fork();
  if (child == 0) {
    const int before = double_registered();
    again(memory + kPage, kPage, kLocal, 3);
    EXPECT(double_registered() == before + 3);
    EXPECT(ibv_dereg_mr(held) == 0);
    _exit(0);
  }
  int status = 0;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  again(memory + kPage, kPage, kLocal, 2);
  EXPECT(ibv_dereg_mr(held) == 0);
  close_all();
}

static void fork_protected(void) {
  double_fork_status(IBV_FORK_ENABLED);
  again(map(1), kPage, kLocal, 3);
  close_all();
}

enum { kThreads = 4, kBuffers = 48, kTimes = 4000 };
static char *buffers;

static void *in_thread(void *seed) {
  unsigned random = (unsigned)(uintptr_t)seed;
  for (int i = 0; i < kTimes; ++i) {
    char *buffer = buffers + (size_t)(rand_r(&random) % kBuffers) * 2 * kPage;
    again(buffer, kPage + (size_t)(rand_r(&random) % 2), kLocal, 1);
    if (i % 97 == 0) EXPECT(madvise(buffer, kPage, MADV_DONTNEED) == 0);
  }
  return NULL;
}

static void threads(void *(*act)(void *)) {
  pthread_t all[kThreads];
  for (uintptr_t i = 0; i < kThreads; ++i) EXPECT(pthread_create(&all[i], NULL, act, (void *)(i + 1)) == 0);
  for (int i = 0; i < kThreads; ++i) EXPECT(pthread_join(all[i], NULL) == 0);
  close_all();
}

static void many_threads(void) {
  buffers = map(2 * kBuffers);
  threads(in_thread);
}

/* The allocator takes its own memory away, locks held, while it is watched. */
static void *in_heap(void *seed) {
  unsigned random = (unsigned)(uintptr_t)seed;
  for (int i = 0; i < 400; ++i) {
    const size_t length = 1000 + (size_t)rand_r(&random) % 200000;
    char *memory = malloc(length);
    again(memory, length, kLocal, 1);
    free(memory);
    if (i % 10 == 0) malloc_trim(0);
  }
  return NULL;
}

static void heap(void) { threads(in_heap); }

/* Addresses that one thread gives away are another one's in no time: its memory is never taken for what was there. */
static void *in_reused_memory(void *number) {
  for (uint64_t i = 0; i < 2000; ++i) {
    char *memory = map(2);
    const uint64_t mark = ((uint64_t)(uintptr_t)number << 32) + i + 1;
    *(uint64_t *)memory = mark;
    for (int twice = 0; twice < 2; ++twice) {
      struct ibv_mr *mr = use(memory, kPage + 8, kLocal);
      EXPECT(double_content(mr->lkey) == mark);
      EXPECT(ibv_dereg_mr(mr) == 0);
    }
    EXPECT(munmap(memory, 2 * kPage) == 0);
  }
  return NULL;
}

static void reused(void) { threads(in_reused_memory); }

static void changed(void) {
  char *memory = map(4);
  struct ibv_mr *mr = use(memory, kPage, kLocal);
  struct ibv_mr *other = use(memory, kPage, kLocal);
  EXPECT(ibv_rereg_mr(mr, 0, NULL, NULL, 0, 0) != 0);
  EXPECT(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, memory + kPage, 2 * kPage, 0) == 0);
  EXPECT(mr->addr == memory + kPage && mr->length == 2 * kPage);
  EXPECT(other->addr == memory && other->length == kPage && mr->lkey != other->lkey);
  EXPECT(ibv_rereg_mr(other, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, kRemote) == 0);
  EXPECT(other->addr == memory && other->length == kPage);
  EXPECT(ibv_dereg_mr(mr) == 0 && ibv_dereg_mr(other) == 0);
  EXPECT(double_live() == 0);
  close_all();
}

static void no_memory(void) {
  double_limit(6 * kPage);
  for (int i = 0; i < 20; ++i) again(map(2), 2 * kPage, kLocal, 2);
  again(map(6), 6 * kPage, kRemote, 1); /* which passes the cache by */
  EXPECT(ibv_reg_mr(pd, map(7), 7 * kPage, kLocal) == NULL && errno == ENOMEM);
  close_all();
}

static void many_domains(void) {
  char *memory = map(2);
  for (int i = 0; i < 200; ++i) {
    again(memory, 2 * kPage, kLocal, 2);
    struct ibv_pd *first = pd;
    pd = double_pd(device);
    again(memory, 2 * kPage, kLocal, 2);
    EXPECT(ibv_dealloc_pd(pd) == 0);
    pd = first;
  }
  close_all();
}

/* A domain goes while the cache's own thread is about to deregister what was in it. */
static void domain_in_tidying(void) {
  double_slow(20000);
  for (int i = 0; i < 10; ++i) {
    char *memory = map(2);
    again(memory, 2 * kPage, kLocal, 2);
    EXPECT(munmap(memory, 2 * kPage) == 0);
    usleep(1000 * (unsigned)i);
    struct ibv_pd *next = double_pd(device);
    EXPECT(ibv_dealloc_pd(pd) == 0);
    pd = next;
  }
  close_all();
}

/* Until its input ends. */
static void waiting(void) {
  again(map(1), kPage, kLocal, 3);
  puts("ready");
  fflush(stdout);
  EXPECT(getchar() == EOF);
  close_all();
}

static const struct {
  const char *name;
  void (*act)(void);
} scenarios[] = {{"keep", keep},       {"other_range", other_range}, {"passed_by", passed_by},
                 {"shared", shared_memory}, {"busy", busy},       {"device", device_closed},    {"unmapped", unmapped},
                 {"forked", forked},   {"fork_protected", fork_protected}, {"threads", many_threads},
                 {"heap", heap}, {"reused", reused},       {"changed", changed},         {"no_memory", no_memory},
                 {"domains", many_domains}, {"domain_in_tidying", domain_in_tidying}, {"waiting", waiting}};

int main(int count, char **arguments) {
  for (size_t i = 0; count == 2 && i < sizeof scenarios / sizeof *scenarios; ++i) {
    if (strcmp(arguments[1], scenarios[i].name) != 0) continue;
    device = double_device();
    pd = double_pd(device);
    scenarios[i].act();
    printf("registered %d\n", double_registered());
    return 0;
  }
  fprintf(stderr, "usage: %s SCENARIO\n", arguments[0]);
  return 2;
}
