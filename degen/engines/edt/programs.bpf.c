// The programs of engine edt, for the kernel (tc-BPF, Linux 5.18 and newer). scripts/edt-programs makes programs.skel.h
// of this file; nothing else reads it. `arrive` is attached where packets come in, `depart` where they leave, each by
// its own copy with its own maps. fq, the root qdisc there, then holds a packet until its delivery time.
//
// Only the router's own clock is in play: a packet's delivery time is the one of its ARRIVAL, which ip_forward and
// bridges leave alone, and so what the router needs between both programs is no part of the delay.
#include <linux/in.h>
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

// Of single packets.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, EDT_MOST_FAULTS);
  __type(key, __u32);
  __type(value, struct edt_fault);
} faults SEC(".maps");

// Not 0 while `depart` has the kernel send a copy of a packet, which comes through `depart` before that goes on: on the
// same processor, which sends no other packet by this interface meanwhile. So nothing need be written on the copy.
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} copying SEC(".maps");

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

// The parts of `depart`. Not static: so the kernel verifies each by itself, once, and not anew for each of the ways
// that lead to it and from it (without CAP_PERFMON also for those that a processor may take by mistake). What they need
// they look up, for no pointer into a map with a lock can be given to them. False: something is missing.

// What holds when the packet arrives.
__noinline int look_up(struct edt_packet* packet) {
  const __u32 first = 0;
  const struct edt_terms* t = bpf_map_lookup_elem(&terms, &first);
  return t && packet && edt_look_up(t, &moments, packet);
}

// Two halves, for no map (a schedule's) can be looked into while the lock is held.
__noinline int admit(const struct edt_packet* packet, struct edt_decision* decision) {
  const __u32 first = 0;
  const struct edt_terms* t = bpf_map_lookup_elem(&terms, &first);
  struct edt_link* l = bpf_map_lookup_elem(&link, &first);
  if (!t || !l || !packet || !decision) return 0;
  bpf_spin_lock(&l->lock);
  *decision = edt_admit(t, &l->state, packet);
  bpf_spin_unlock(&l->lock);
  return 1;
}

__noinline int place(const struct edt_packet* packet, struct edt_decision* decision) {
  const __u32 first = 0;
  const struct edt_terms* t = bpf_map_lookup_elem(&terms, &first);
  struct edt_link* l = bpf_map_lookup_elem(&link, &first);
  if (!t || !l || !packet || !decision) return 0;
  bpf_spin_lock(&l->lock);
  edt_place(t, &l->state, packet, decision);
  bpf_spin_unlock(&l->lock);
  return 1;
}

// When the link has done so much.
__noinline __u64 done(__u64 work) {
  const __u32 first = 0;
  const struct edt_terms* t = bpf_map_lookup_elem(&terms, &first);
  return t ? edt_done(t, &moments, work) : 0;
}

// As flow_of() of degen/engines/nfqueue/queue_message.cc reads it. What cannot be loaded is 0 then.
static __always_inline int has_number(struct __sk_buff* skb, const struct edt_terms* t) {
  __u8 head[10] = {0};
  __u8 ports[4] = {0};
  __u32 protocol = 0;
  __u32 length = 0;  // of the header before the ports; 0: there are none
  bpf_skb_load_bytes_relative(skb, 0, head, sizeof head, BPF_HDR_START_NET);
  if (head[0] >> 4 == 4) {
    protocol = head[9];
    if ((head[6] & 0x1f) == 0 && head[7] == 0) length = (head[0] & 0xf) * 4;  // no later fragment
  } else if (head[0] >> 4 == 6) {
    protocol = head[6];
    length = 40;
  }
  if (length > 0 && (protocol == IPPROTO_TCP || protocol == IPPROTO_UDP))
    bpf_skb_load_bytes_relative(skb, length, ports, sizeof ports, BPF_HDR_START_NET);
  return edt_has_number(t, protocol, (__u32)ports[0] << 8 | ports[1], (__u32)ports[2] << 8 | ports[3]);
}

// Numbers a packet, and says which fault hits it: see edt_hit().
__noinline __u32 fault_of(struct __sk_buff* skb) {
  const __u32 first = 0;
  __u64 number;
  const struct edt_terms* t = bpf_map_lookup_elem(&terms, &first);
  struct edt_link* l = bpf_map_lookup_elem(&link, &first);
  if (!t || !l || !has_number(skb, t)) return 0;
  bpf_spin_lock(&l->lock);
  number = edt_number(&l->state);
  bpf_spin_unlock(&l->lock);
  return edt_hit(&faults, number);
}

static __always_inline __u64 is_copy(void) {
  const __u32 first = 0;
  const __u64* now = bpf_map_lookup_elem(&copying, &first);
  return now ? *now : 0;
}

// By the same interface. 0, or a negative error number.
__noinline int send_copy(struct __sk_buff* skb) {
  const __u32 first = 0;
  __u64* now = bpf_map_lookup_elem(&copying, &first);
  int result;
  if (!now) return 0;
  *now = 1;
  result = bpf_clone_redirect(skb, skb->ifindex, 0);
  *now = 0;
  return result;
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
  struct edt_decision decision = {0};
  struct edt_packet packet = {0};
  int stamped;
  const struct edt_terms* t = bpf_map_lookup_elem(&terms, &first);
  const __u64* until = bpf_map_lookup_elem(&lease, &first);
  if (!t || !until) return GO_ON;

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
    if (!look_up(&packet)) return GO_ON;
    packet.copy = is_copy();
    if (t->numbered && !packet.copy) {
      const __u32 place = fault_of(skb) - 1;
      const struct edt_fault* fault = bpf_map_lookup_elem(&faults, &place);
      if (fault) {
        packet.harm = fault->harm;
        packet.later = fault->by;
      }
    }
    if (!admit(&packet, &decision)) return GO_ON;
    if (edt_takes_time(&decision)) {
      if (decision.work > 0) decision.due = done(decision.work);
      if (!place(&packet, &decision)) return GO_ON;
    }
  }
  if (decision.fate != EDT_PASS) return TC_ACT_SHOT;
  // Others may hold the same bytes (a sender that would send them again): first a copy of the header.
  if (decision.mark && (bpf_skb_pull_data(skb, 0) != 0 || !bpf_skb_ecn_set_ce(skb))) return TC_ACT_SHOT;
  if (decision.twice) send_copy(skb);

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
