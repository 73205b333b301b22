/* A double of libibverbs (libibverbs.so.1 of double.c): the functions that the cache stands in front of, with their
 * versions, over a device that registers nothing. Programs that use it say what it is to do, and ask what it has done. */
#ifndef LONGHAUL_TEST_DOUBLE_H
#define LONGHAUL_TEST_DOUBLE_H

#include <infiniband/verbs.h>

struct ibv_context *double_device(void);
struct ibv_pd *double_pd(struct ibv_context *context);
int double_registered(void);          /* registrations so far */
int double_live(void);                /* not deregistered yet */
void double_limit(unsigned long most); /* bytes registered at a time: beyond, ENOMEM */
void double_slow(unsigned us);         /* deregistering takes so long */
void double_fork_status(enum ibv_fork_status status);

/* The first eight bytes of the memory when the region of this key was registered. */
uint64_t double_content(uint32_t lkey);

#endif
