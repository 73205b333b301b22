// The programs of engine edt, for the kernel (tc-BPF, Linux 5.18 and newer). scripts/edt-programs makes programs.skel.h
// of this file; nothing else reads it. `arrive` is attached where packets come in, `depart` where they leave, each by
// its own copy with its own maps. fq, the root qdisc there, then holds a packet until its delivery time.
//
// Only the router's own clock is in play: a packet's delivery time is the one of its ARRIVAL, which ip_forward and
// bridges leave alone, and so what the router needs between both programs is no part of the delay.
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>

#include <bpf/bpf_helpers.h>

#include "degen/engines/edt/decision.h"

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct edt_terms);
} terms SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct edt_link);
} link SEC(".maps");

// Of the schedule, where there is one: as many as it has.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct edt_moment);
} moments SEC(".maps");

// Until when the terms are in force. Renewed while degen lives; afterwards packets are forwarded as if there were none.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} lease SEC(".maps");

// Others' filters have their say afterwards, whatever is decided here, but about packets that are gone.
#define GO_ON TC_ACT_UNSPEC

SEC("tc")
int arrive(struct __sk_buff* skb) {
  // Refused for what is neither IPv4 nor IPv6; such a packet is timed when it leaves.
  bpf_skb_set_tstamp(skb, bpf_ktime_get_ns(), BPF_SKB_TSTAMP_DELIVERY_MONO);
  return GO_ON;
}

// Without a loop: a pointer that moves is for CAP_PERFMON, too.
static __always_inline int comes_from(const struct edt_terms* t, __u32 interface) {
#pragma clang loop unroll(full)
  for (__u32 i = 0; i < EDT_MOST_ORIGINS; ++i) {
    if (i >= t->origins) return 0;
    if (t->origin[i] == interface) return 1;
  }
  return 0;
}

// Functions of their own, for what they need beside would otherwise be put on the stack in a way that the kernel takes of
// CAP_PERFMON only. Two halves, for no map (a schedule's) can be looked into while the lock is held.
static __noinline void admit(const struct edt_terms* t, struct edt_link* l, const struct edt_packet* packet,
                             struct edt_decision* decision) {
  bpf_spin_lock(&l->lock);
  *decision = edt_admit(t, &l->state, packet);
  bpf_spin_unlock(&l->lock);
}

static __noinline void place(const struct edt_terms* t, struct edt_link* l, const struct edt_packet* packet,
                             struct edt_decision* decision) {
  bpf_spin_lock(&l->lock);
  edt_place(t, &l->state, packet, decision);
  bpf_spin_unlock(&l->lock);
}

// The last two bits of the traffic class, which lies across the first two bytes of IPv6's header.
static __always_inline __u32 ecn_capable(struct __sk_buff* skb) {
  __u8 head[2] = {0, 0};
  if (bpf_skb_load_bytes_relative(skb, 0, head, sizeof head, BPF_HDR_START_NET) != 0) return 0;
  if (head[0] >> 4 == 4) return head[1] & 3;
  return head[0] >> 4 == 6 ? head[1] >> 4 & 3 : 0;
}

SEC("tc")
int depart(struct __sk_buff* skb) {
  const __u32 first = 0;
  struct edt_decision decision;
  struct edt_packet packet = {0};
  int stamped;
  const struct edt_terms* t = bpf_map_lookup_elem(&terms, &first);
  struct edt_link* l = bpf_map_lookup_elem(&link, &first);
  const __u64* until = bpf_map_lookup_elem(&lease, &first);
  if (!t || !l || !until) return GO_ON;

  // The router's own packets have no origin.
  if (!comes_from(t, skb->ingress_ifindex)) return GO_ON;
  stamped = skb->tstamp_type == BPF_SKB_TSTAMP_DELIVERY_MONO;
  packet.arrival = stamped ? skb->tstamp : bpf_ktime_get_ns();

  if (packet.arrival >= *until) {
    // Past those that still wait.
    bpf_set_hash(skb, EDT_FLOW_AT_ONCE);
    return GO_ON;
  }
  if (t->delay_only) {
    decision = edt_delayed(t, &packet);
  } else {
    packet.bytes = skb->wire_len;
    if (t->ecn) packet.ecn_capable = ecn_capable(skb);
    if (!edt_look_up(t, &moments, &packet)) return GO_ON;
    admit(t, l, &packet, &decision);
    if (edt_takes_time(&decision)) {
      if (decision.work > 0) decision.due = edt_done(t, &moments, decision.work);
      place(t, l, &packet, &decision);
    }
  }
  if (decision.fate != EDT_PASS) return TC_ACT_SHOT;
  // Others may hold the same bytes (a sender that would send them again): first a copy of the header.
  if (decision.mark && (bpf_skb_pull_data(skb, 0) != 0 || !bpf_skb_ecn_set_ce(skb))) return TC_ACT_SHOT;

  bpf_set_hash(skb, decision.flow);
  // fq (before Linux 6.7) sends control traffic past all others.
  if ((skb->priority & TC_PRIO_MAX) == TC_PRIO_CONTROL) skb->priority = TC_PRIO_BESTEFFORT;
  if (stamped)
    skb->tstamp = decision.due;
  else if (bpf_skb_set_tstamp(skb, decision.due, BPF_SKB_TSTAMP_DELIVERY_MONO) != 0)
    skb->tstamp = decision.due;
  return GO_ON;
}

// No function is called that the kernel keeps for programs under the GPL.
char _license[] SEC("license") = "Apache-2.0";
