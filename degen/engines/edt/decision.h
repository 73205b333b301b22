// What engine edt decides about a packet. In C, because two compilers read it: clang for the kernel (programs.bpf.c),
// and g++ for the engine and its tests. Times are ns of CLOCK_MONOTONIC, probabilities shares of 2^32 - 1.
//
// The same words mean the same as in engine nfqueue's Scheduler: first losses, then a full queue, then packets that
// skip the delay, then the link's rate, the delay and its jitter. A packet's delay counts from its own arrival.
#ifndef LONGHAUL_DEGEN_EDT_DECISION_H
#define LONGHAUL_DEGEN_EDT_DECISION_H

#include <linux/bpf.h>

#include "degen/impairment/draws.h"

#define EDT_TABLE_SIZE 4096   // of a distribution (degen/impairment/distribution.hh), a power of two
#define EDT_TABLE_SCALE 8192  // a value of this is one jitter
#define EDT_MOST_ORIGINS 32   // kMaxInterfaces of degen/impairment/plan.hh
#define EDT_NS_PER_SECOND 1000000000ULL

// What is asked of the packets that leave by one interface. Written once, before the program is attached.
struct edt_terms {
  __u64 delay;
  __u64 jitter;                    // at most 10^9
  __u64 rate;                      // bit/s; 0: unlimited
  __u64 patience;                  // with a rate: a packet that would be held for longer finds the queue full
  __u64 seed;                      // of all that is random
  __u64 loss;                      // of each packet; unused where the loss model has states
  __u64 enter;                     // loss model of two states, a packet: good -> bad
  __u64 leave;                     // bad -> good; 0: losses are independent
  __u64 loss_bad;                  // in the bad state
  __u64 loss_good;                 // in the good state
  __u64 reorder;                   // of packets that skip the delay
  __u32 keep_order;                // no packet leaves before an earlier one, but for those that skip the delay
  __u32 delay_only;                // nothing but the delay is asked: no state is needed, so no lock
  __u32 flow;                      // of fq, an even number: for packets in order
  __u32 ecn;                       // what would be lost is marked where it can be
  __u32 origins;                   // of the next
  __u32 origin[EDT_MOST_ORIGINS];  // interfaces by which the packets came in, by index
  __s16 table[EDT_TABLE_SIZE];
};

// What packets leave behind for those after them. Zero at the start.
struct edt_state {
  __u64 packets;
  __u64 link_free;  // when the link has sent all that wait for it
  __u64 last_due;
  __u64 lost;        // asked losses
  __u64 marked;      // that would have been lost
  __u64 overflowed;  // found the queue of the link full
  __u64 bad;         // state of the loss model
};

// As it lies in a map.
struct edt_link {
  struct bpf_spin_lock lock;
  __u32 unused;
  struct edt_state state;
};

enum edt_fate { EDT_PASS, EDT_LOSE, EDT_OVERFLOW };

// Both of 64 bits throughout: on the kernel's stack a smaller part of what was written whole cannot be written again
// without CAP_PERFMON.
struct edt_packet {
  __u64 arrival;
  __u64 bytes;        // on the link; matters with a rate only
  __u64 ecn_capable;  // its sender knows marks; matters with losses only
};

struct edt_decision {
  __u64 due;
  __u64 fate;  // enum edt_fate
  __u64 flow;
  __u64 mark;  // congestion experienced
};

// fq lets no packet of a flow go before one that it has put off already, so who overtakes needs a flow of its own:
// those that skip the delay this one, each packet an even number where order is free, the packets of a new impairment
// those of the one before.
#define EDT_FLOW_AT_ONCE 1
#define EDT_FLOW_MASK 0x1ffff  // fq's orphan_mask

// A packet is lost by the state that it finds; the state changes after it, so that the bad one has a mean length of
// 1 / leave.
DEGEN_INLINE int edt_lose(const struct edt_terms* terms, struct edt_state* state, __u64 random) {
  // Of 64 bits: where they are kept on the stack, only these may lie where a pointer lay (CAP_PERFMON again).
  __u64 enter = terms->enter, leave = terms->leave, loss_bad = terms->loss_bad, loss_good = terms->loss_good;
  int bad;
  if (leave == 0) return degen_chance(terms->loss, random);
  // All four are read, or the compiler makes one read of a pointer that moves, which is for CAP_PERFMON.
  __asm__("" : "+r"(enter), "+r"(leave), "+r"(loss_bad), "+r"(loss_good));
  bad = state->bad != 0;
  if (degen_chance(bad ? leave : enter, random)) state->bad = !bad;
  return degen_chance(bad ? loss_bad : loss_good, degen_draw(terms->seed, state->packets, DEGEN_LOSS_IN_STATE));
}

// Where a jittered packet is due: `due` and a draw from the table, at least `earliest`.
DEGEN_INLINE __u64 edt_jittered(const struct edt_terms* terms, __u64 due, __u64 earliest, __u32 random) {
  const __s64 value = terms->table[random & (EDT_TABLE_SIZE - 1)];
  // The kernel's machine divides unsigned numbers only; towards zero, as draw_deviation() does.
  const __u64 size = terms->jitter * (__u64)(value < 0 ? -value : value) / EDT_TABLE_SCALE;
  if (value >= 0) return due + size;
  return due < earliest + size ? earliest : due - size;
}

// Where more than the delay is asked, the caller sees to it that one packet is decided on at a time.
DEGEN_INLINE struct edt_decision edt_decide(const struct edt_terms* terms, struct edt_state* state,
                                            const struct edt_packet* packet) {
  const __u64 arrival = packet->arrival;
  struct edt_decision decision = {arrival + terms->delay, EDT_PASS, terms->flow, 0};
  __u64 link_free = 0;
  __u64 random;
  if (terms->delay_only) return decision;

  random = degen_draw(terms->seed, state->packets, DEGEN_LOSS_AND_REORDER);
  if (edt_lose(terms, state, random)) {
    if (!terms->ecn || !packet->ecn_capable) {
      state->packets++;
      state->lost++;
      decision.fate = EDT_LOSE;
      return decision;
    }
    decision.mark = 1;
  }
  if (terms->rate > 0) {
    // On the link one after the other; then the delay of the distance, for each on its own.
    link_free =
        (state->link_free > arrival ? state->link_free : arrival) + packet->bytes * 8 * EDT_NS_PER_SECOND / terms->rate;
    if (link_free - arrival > terms->patience) {
      state->packets++;
      state->overflowed++;
      decision.fate = EDT_OVERFLOW;
      return decision;
    }
  }
  state->marked += decision.mark;
  if (degen_chance(terms->reorder, random >> 32)) {
    state->packets++;
    decision.due = arrival;
    decision.flow = EDT_FLOW_AT_ONCE;
    return decision;
  }
  if (terms->rate > 0) {
    state->link_free = link_free;
    decision.due = link_free + terms->delay;
  }
  if (terms->jitter > 0)
    decision.due = edt_jittered(terms, decision.due, arrival,
                                (__u32)degen_draw(terms->seed, state->packets, DEGEN_JITTER_AND_FLIP));
  if (terms->keep_order) {
    if (decision.due < state->last_due) decision.due = state->last_due;
    state->last_due = decision.due;
  } else {
    decision.flow = (terms->flow + (__u32)(state->packets << 1)) & EDT_FLOW_MASK;
  }
  state->packets++;
  return decision;
}

#endif
