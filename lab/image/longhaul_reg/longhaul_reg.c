// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
// What the parts of memory registration cost inside the kernel: /dev/longhaul-registration, one ioctl (longhaul_reg.h).
// For the lab alone: anyone may open it.
//
// EACH and FAST are an ANALOGUE of the MRRC paper's kernel-space registration, not that itself: the paper's ib_reg_phys_mr
// is gone from kernels; ib_alloc_mr + ib_map_mr_sg + IB_WR_REG_MR is its like.
#include <linux/bottom_half.h>
#include <linux/highmem.h>
#include <linux/ktime.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#include "longhaul_reg.h"

struct job {
	struct longhaul_reg_request request;

	// ZERO and PIN
	struct page **pages;
	unsigned long held; // how many of them are allocated or pinned

	// EACH and FAST
	struct ib_device *device;
	u32 port;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct ib_mr *mr;
	void *memory;
	struct scatterlist sg;
	bool mapped;
};

// prepare and finish are not timed; finish releases whatever the others left, after success and after failure.
struct operation {
	int (*prepare)(struct job *job);
	int (*first)(struct job *job);
	int (*second)(struct job *job);
	void (*finish)(struct job *job);
	u64 max_bytes;
};

static unsigned long pages_of(const struct job *job)
{
	return job->request.bytes >> PAGE_SHIFT;
}

static int prepare_pages(struct job *job)
{
	job->pages = kvcalloc(pages_of(job), sizeof(*job->pages), GFP_KERNEL);
	return job->pages ? 0 : -ENOMEM;
}

static int prepare_zero(struct job *job)
{
	int ret = prepare_pages(job);

	if (ret)
		return ret;
	for (; job->held < pages_of(job); job->held++) {
		// Rather fail than have someone killed for memory. (Debian's kernel zeroes here too: init_on_alloc.)
		job->pages[job->held] = alloc_page(GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN);
		if (!job->pages[job->held])
			return -ENOMEM;
		cond_resched();
	}
	return 0;
}

static int zero(struct job *job)
{
	unsigned long i;

	for (i = 0; i < job->held; i++)
		clear_highpage(job->pages[i]);
	return 0;
}

static void finish_zero(struct job *job)
{
	while (job->held)
		__free_page(job->pages[--job->held]);
	kvfree(job->pages);
}

static int prepare_pin(struct job *job)
{
	return PAGE_ALIGNED(job->request.address) ? prepare_pages(job) : -EINVAL;
}

static int pin(struct job *job)
{
	while (job->held < pages_of(job)) {
		int pinned = pin_user_pages_fast(job->request.address + (job->held << PAGE_SHIFT), pages_of(job) - job->held,
						 FOLL_WRITE | FOLL_LONGTERM, job->pages + job->held);

		if (pinned <= 0)
			return pinned ?: -EFAULT;
		job->held += pinned;
	}
	return 0;
}

static int unpin(struct job *job)
{
	unpin_user_pages(job->pages, job->held);
	job->held = 0;
	return 0;
}

static void finish_pin(struct job *job)
{
	if (job->held)
		unpin(job);
	kvfree(job->pages);
}

static int own_gid(struct job *job, union ib_gid *gid, int *index)
{
	struct ib_port_attr port;
	int ret = ib_query_port(job->device, job->port, &port);

	if (ret)
		return ret;
	for (*index = 0; *index < port.gid_tbl_len; ++*index)
		if (!rdma_query_gid(job->device, job->port, *index, gid) &&
		    ipv6_addr_v4mapped((struct in6_addr *)gid->raw))
			return 0;
	return -EADDRNOTAVAIL;
}

// Ready to send, to itself, which it never does: registering and invalidating are local. A kernel's ib_modify_qp resolves no
// address, so the destination's MAC may stay zero.
static int make_ready(struct job *job)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = job->port,
		.path_mtu = IB_MTU_256,
		.dest_qp_num = job->qp->qp_num,
		.max_rd_atomic = 1,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
	};
	union ib_gid gid;
	int index, ret;

	ret = own_gid(job, &gid, &index);
	if (ret)
		return ret;
	attr.ah_attr.type = rdma_ah_find_type(job->device, job->port);
	rdma_ah_set_port_num(&attr.ah_attr, job->port);
	rdma_ah_set_grh(&attr.ah_attr, &gid, 0, index, 64, 0);

	ret = ib_modify_qp(job->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTR;
	ret = ib_modify_qp(job->qp, &attr,
			   IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN | IB_QP_RQ_PSN |
				   IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_RTS;
	return ib_modify_qp(job->qp, &attr,
			    IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_SQ_PSN |
				    IB_QP_MAX_QP_RD_ATOMIC);
}

static int prepare_verbs(struct job *job)
{
	const struct ib_cq_init_attr cq_attr = { .cqe = 16 };
	struct ib_qp_init_attr qp_attr = {
		.qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = { .max_send_wr = 4, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	// A device that is being removed waits until we put it back; one that is already going is not found.
	job->device = ib_device_get_by_name(job->request.device, RDMA_DRIVER_UNKNOWN);
	if (!job->device)
		return -ENODEV;
	job->port = rdma_start_port(job->device);
	if (!rdma_protocol_roce(job->device, job->port) ||
	    !(job->device->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS))
		return -EOPNOTSUPP;
	if (pages_of(job) > job->device->attrs.max_fast_reg_page_list_len)
		return -EINVAL;

	job->memory = alloc_pages_exact(job->request.bytes, GFP_KERNEL | __GFP_NOWARN);
	if (!job->memory)
		return -ENOMEM;
	sg_init_one(&job->sg, job->memory, job->request.bytes);

	job->pd = ib_alloc_pd(job->device, 0);
	if (IS_ERR(job->pd))
		return PTR_ERR(job->pd);
	job->cq = ib_create_cq(job->device, NULL, NULL, NULL, &cq_attr);
	if (IS_ERR(job->cq))
		return PTR_ERR(job->cq);
	qp_attr.send_cq = job->cq;
	qp_attr.recv_cq = job->cq;
	job->qp = ib_create_qp(job->pd, &qp_attr);
	if (IS_ERR(job->qp))
		return PTR_ERR(job->qp);
	return make_ready(job);
}

static int allocate_region(struct job *job)
{
	job->mr = ib_alloc_mr(job->pd, IB_MR_TYPE_MEM_REG, pages_of(job));
	return PTR_ERR_OR_ZERO(job->mr);
}

static int free_region(struct job *job)
{
	int ret = ib_dereg_mr(job->mr);

	if (!ret)
		job->mr = NULL;
	return ret;
}

static int prepare_fast(struct job *job)
{
	return prepare_verbs(job) ?: allocate_region(job);
}

static int execute(struct job *job, const struct ib_send_wr *work)
{
	const u64 last = ktime_get_raw_ns() + NSEC_PER_SEC;
	struct ib_wc done;
	int ret;

	// rxe works in a tasklet: with this, here and now. Without, ksoftirqd is woken for it, and the switches there and back
	// are counted as registration (FAST, 4 KiB, in the lab: 40 us instead of 8).
	local_bh_disable();
	ret = ib_post_send(job->qp, work, NULL);
	local_bh_enable();
	if (ret)
		return ret;
	while ((ret = ib_poll_cq(job->cq, 1, &done)) == 0) {
		if (ktime_get_raw_ns() > last)
			return -ETIMEDOUT;
		cond_resched();
	}
	if (ret < 0)
		return ret;
	return done.status == IB_WC_SUCCESS ? 0 : -EIO;
}

static int fast_register(struct job *job)
{
	struct ib_reg_wr work = {
		.wr = { .opcode = IB_WR_REG_MR, .send_flags = IB_SEND_SIGNALED },
		.mr = job->mr,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE,
	};
	int ret;

	if (!ib_dma_map_sg(job->device, &job->sg, 1, DMA_BIDIRECTIONAL))
		return -EIO;
	job->mapped = true;
	ret = ib_map_mr_sg(job->mr, &job->sg, 1, NULL, PAGE_SIZE);
	if (ret != 1)
		return ret < 0 ? ret : -EIO;
	// A new key every time: who still has the old one is refused.
	ib_update_fast_reg_key(job->mr, ib_inc_rkey(job->mr->rkey));
	work.key = job->mr->rkey;
	return execute(job, &work.wr);
}

static void unmap(struct job *job)
{
	ib_dma_unmap_sg(job->device, &job->sg, 1, DMA_BIDIRECTIONAL);
	job->mapped = false;
}

static int fast_invalidate(struct job *job)
{
	const struct ib_send_wr work = {
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = job->mr->rkey,
	};
	int ret = execute(job, &work);

	if (!ret)
		unmap(job);
	return ret;
}

static int each_register(struct job *job)
{
	return allocate_region(job) ?: fast_register(job);
}

static int each_invalidate(struct job *job)
{
	return fast_invalidate(job) ?: free_region(job);
}

static void finish_verbs(struct job *job)
{
	// The queue pair first: work of it that was given up for lost still refers to the rest.
	if (!IS_ERR_OR_NULL(job->qp))
		ib_destroy_qp(job->qp);
	if (!IS_ERR_OR_NULL(job->mr))
		ib_dereg_mr(job->mr);
	if (job->mapped)
		unmap(job);
	if (!IS_ERR_OR_NULL(job->cq))
		ib_destroy_cq(job->cq);
	if (!IS_ERR_OR_NULL(job->pd))
		ib_dealloc_pd(job->pd);
	if (job->memory)
		free_pages_exact(job->memory, job->request.bytes);
	if (job->device)
		ib_device_put(job->device);
}

static const struct operation operations[] = {
	[LONGHAUL_REG_ZERO] = { prepare_zero, zero, NULL, finish_zero, LONGHAUL_REG_MAX_BYTES },
	[LONGHAUL_REG_PIN] = { prepare_pin, pin, unpin, finish_pin, LONGHAUL_REG_MAX_BYTES },
	[LONGHAUL_REG_EACH] = { prepare_verbs, each_register, each_invalidate, finish_verbs,
				LONGHAUL_REG_MAX_REGISTERED_BYTES },
	[LONGHAUL_REG_FAST] = { prepare_fast, fast_register, fast_invalidate, finish_verbs,
				LONGHAUL_REG_MAX_REGISTERED_BYTES },
};

// The raw clock: it goes on evenly when the task is moved to another processor, which local_clock() does not promise, and
// nobody steers it.
static int timed(int (*part)(struct job *job), struct job *job, u64 *nanoseconds)
{
	const u64 start = ktime_get_raw_ns();
	const int ret = part(job);

	*nanoseconds = ktime_get_raw_ns() - start;
	return ret;
}

static int measure(const struct operation *operation, struct job *job, u64 *first, u64 *second)
{
	u32 i;
	int ret;

	for (i = 0; i < job->request.iterations; i++) {
		if (signal_pending(current))
			return -EINTR;
		ret = timed(operation->first, job, &first[i]);
		if (!ret && operation->second)
			ret = timed(operation->second, job, &second[i]);
		if (ret)
			return ret;
		cond_resched();
	}
	return 0;
}

static int run(struct job *job, const struct operation *operation)
{
	const struct longhaul_reg_request *request = &job->request;
	const size_t size = request->iterations * sizeof(u64);
	u64 *first = kvzalloc(size, GFP_KERNEL), *second = kvzalloc(size, GFP_KERNEL);
	int ret = -ENOMEM;

	if (first && second) {
		ret = operation->prepare(job) ?: measure(operation, job, first, second);
		operation->finish(job);
	}
	if (!ret && copy_to_user(u64_to_user_ptr(request->first_times), first, size))
		ret = -EFAULT;
	if (!ret && operation->second && copy_to_user(u64_to_user_ptr(request->second_times), second, size))
		ret = -EFAULT;
	kvfree(first);
	kvfree(second);
	return ret;
}

static long longhaul_reg_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct job job = {};
	const struct longhaul_reg_request *request = &job.request;

	if (command != LONGHAUL_REG_RUN)
		return -ENOTTY;
	if (copy_from_user(&job.request, (void __user *)argument, sizeof(job.request)))
		return -EFAULT;
	if (request->operation >= ARRAY_SIZE(operations) || !operations[request->operation].first ||
	    !request->iterations || request->iterations > LONGHAUL_REG_MAX_ITERATIONS || !request->bytes ||
	    !PAGE_ALIGNED(request->bytes) || request->bytes > operations[request->operation].max_bytes ||
	    strnlen(request->device, sizeof(request->device)) == sizeof(request->device))
		return -EINVAL;
	return run(&job, &operations[request->operation]);
}

static const struct file_operations longhaul_reg_files = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = longhaul_reg_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice longhaul_reg = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "longhaul-registration",
	.fops = &longhaul_reg_files,
	.mode = 0666,
};
module_misc_device(longhaul_reg);

MODULE_DESCRIPTION("longhaul: what memory registration costs inside the kernel");
MODULE_LICENSE("Dual BSD/GPL");
