/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What programs say to the lab's kernel module longhaul_reg, in an ioctl on LONGHAUL_REG_PATH. C and C++. */
#pragma once

#include <linux/ioctl.h>
#include <linux/types.h>

#define LONGHAUL_REG_PATH "/dev/longhaul-registration"

#define LONGHAUL_REG_MAX_ITERATIONS 10000u
#define LONGHAUL_REG_MAX_BYTES (256u << 20)           /* ZERO, PIN */
#define LONGHAUL_REG_MAX_REGISTERED_BYTES (4u << 20)  /* EACH, FAST; the device may allow less: rxe 2 MiB */

enum longhaul_reg_operation {
	/* first: all of the pages are cleared, one by one. They are allocated before. */
	LONGHAUL_REG_ZERO = 1,
	/* first: the caller's pages at `address` are pinned, for long and for writing; second: released. */
	LONGHAUL_REG_PIN = 2,
	/* Contiguous kernel memory. first: a memory region is allocated, mapped, registered by work request and its
	 * completion is polled; second: it is invalidated in the same way, unmapped and freed. */
	LONGHAUL_REG_EACH = 3,
	/* The same, but the region is allocated before and freed after all iterations. */
	LONGHAUL_REG_FAST = 4,
};

struct longhaul_reg_request {
	char device[64];     /* EACH, FAST: name of the RDMA device, ends with 0; must be RoCE */
	__u32 operation;     /* enum longhaul_reg_operation */
	__u32 iterations;    /* 1 .. LONGHAUL_REG_MAX_ITERATIONS */
	__u64 bytes;         /* a multiple of the page size, more than 0 */
	__u64 address;       /* PIN: a multiple of the page size */
	__u64 first_times;   /* address of __u64[iterations]: ns; written only when all iterations have succeeded */
	__u64 second_times;  /* likewise; ZERO leaves it alone */
};

/* 0, or -1 with errno: EINVAL a value out of its range; ENODEV no such device; EOPNOTSUPP a device that cannot (siw: its
 * queue pairs must be connected); EADDRNOTAVAIL a device without an IPv4 address; EFAULT; ENOMEM; EINTR a signal came;
 * ETIMEDOUT no completion within a second; EIO a completion with an error. */
#define LONGHAUL_REG_RUN _IOW('L', 0x72, struct longhaul_reg_request)
