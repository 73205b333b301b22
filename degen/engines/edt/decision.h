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
#define EDT_WORK_PER_BIT 1024       // units of what a link sends: at 20 kbit/s one of them takes 50 ns
#define EDT_FASTEST 10000000000ULL  // bit/s of a link whose rate changes: products of 64 bits hold no more
#define EDT_FIND_STEPS 14           // 2^14 > kMostChanges of degen/impairment/schedule.hh
#define EDT_NEVER (1ULL << 62)
#define EDT_ICMP 1  // IP's numbers of protocols
#define EDT_UDP 17
#define EDT_ICMP6 58
#define EDT_MOST_FAULTS 64  // kMostFaults of degen/impairment/faults.hh
#define EDT_HIT_STEPS 6     // 2^6 of them

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
  __u64 duplicate;                 // of packets that leave twice
  __u32 keep_order;                // no packet leaves before an earlier one, but for those that skip the delay
  __u32 delay_only;                // nothing but the delay is asked: no state is needed, so no lock
  __u32 flow;                      // of fq, an even number: for packets in order
  __u32 ecn;                       // what would be lost is marked where it can be
  __u32 moments;                   // of the schedule; 0: what is here holds at all times
  __u32 places;                    // for them, a power of two: those behind the last begin at EDT_NEVER
  __u64 begin;                     // of the schedule
  __u64 repeat;                    // it begins anew after so long; 0: never
  __u64 work;                      // that a busy link does until then
  __u64 room;                      // in place of patience where there are moments: work that may wait; 0: any
  __u32 numbered;                  // packets have numbers, by which faults hit them
  __u32 probe_port;                // of UDP; degen's probes have no number
  __u32 of_protocol;               // IP's number of it: only such packets have numbers; 1 is ICMPv6, too. 0: all
  __u32 of_port;                   // of either end: only such packets have numbers; 0: all
  __u32 origins;                   // of the next
  __u32 origin[EDT_MOST_ORIGINS];  // interfaces by which the packets came in, by index
  __s16 table[EDT_TABLE_SIZE];
};

// What holds from a time on until the next moment. The first is at 0.
struct edt_moment {
  __u64 at;    // since the schedule began
  __u64 work;  // that a busy link has done by then, since the schedule began, in units of 1 / EDT_WORK_PER_BIT
  __u64 delay;
  __u64 loss;
  __u64 rate;  // bit/s; 0: the link is down. Unused where terms have no rate
};

enum edt_harm { EDT_HARM_NONE, EDT_HARM_DROP, EDT_HARM_DELAY, EDT_HARM_DUPLICATE };

// What happens to the packets with these numbers. In ascending order, behind the last they begin at EDT_NEVER.
struct edt_fault {
  __u64 first;
  __u64 last;
  __u64 harm;  // enum edt_harm
  __u64 by;    // ns, of a delay
};

// What packets leave behind for those after them. Zero at the start.
struct edt_state {
  __u64 packets;
  __u64 link_free;  // when the link has sent all that wait for it; where there are moments: the work done by then
  __u64 last_due;
  __u64 lost;        // asked losses
  __u64 marked;      // that would have been lost
  __u64 overflowed;  // found the queue of the link full
  __u64 bad;         // state of the loss model
  __u64 numbered;    // packets that have a number
};

// As it lies in a map.
struct edt_link {
  struct bpf_spin_lock lock;
  __u32 unused;
  struct edt_state state;
};

enum edt_fate { EDT_PASS, EDT_LOSE, EDT_OVERFLOW };

// All of 64 bits throughout: on the kernel's stack a smaller part of what was written whole cannot be written again
// without CAP_PERFMON.
struct edt_packet {
  __u64 arrival;
  __u64 bytes;        // on the link; matters with a rate only
  __u64 ecn_capable;  // its sender knows marks; matters with losses only
  __u64 delay;        // what holds when it arrives
  __u64 loss;
  __u64 work;  // that a busy link has done by then; matters where there are moments
  __u64 harm;  // enum edt_harm, of a fault that hits it
  __u64 later;
  __u64 copy;  // of one that leaves twice: there is no third, and it has no number
};

struct edt_decision {
  __u64 due;
  __u64 fate;  // enum edt_fate
  __u64 flow;
  __u64 mark;     // congestion experienced
  __u64 at_once;  // it skips link and delay
  __u64 number;   // of the packet, for its draws
  __u64 work;     // that the link has done when it has sent the packet, where there are moments
  __u64 twice;    // a copy of it arrives now, too
};

// fq lets no packet of a flow go before one that it has put off already, so who overtakes needs a flow of its own:
// those that skip the delay this one, those that a fault delays another odd one, each packet an even number where order
// is free, the packets of a new impairment those of the one before.
#define EDT_FLOW_AT_ONCE 1
#define EDT_FLOW_MASK 0x1ffff  // fq's orphan_mask

// Where this lies in the kernel's map, or in a test's array. Null: there is none such.
#ifdef __bpf__
#define EDT_MOMENT(moments, index) bpf_map_lookup_elem(moments, &(index))
#define EDT_FAULT(faults, index) bpf_map_lookup_elem(faults, &(index))
#define EDT_UNROLL _Pragma("clang loop unroll(full)")
typedef void edt_moments;
typedef void edt_faults;
#else
#define EDT_UNROLL
#define EDT_MOMENT(moments, index) (&(moments)[index])
#define EDT_FAULT(faults, index) (&(faults)[index])
typedef const struct edt_moment edt_moments;
typedef const struct edt_fault edt_faults;
#endif

// Which of two orders moments are looked for by.
enum edt_order { EDT_BY_TIME, EDT_BY_WORK };

// The last moment that begins at this time or before, or before which no more than this work is done. `moments`: in the
// kernel a map. Without a branch on what it finds, for the kernel (without CAP_PERFMON) follows each way through a loop
// on its own; and unrolled, for Linux 6.1 forgets a counter that lies on the stack.
DEGEN_INLINE const struct edt_moment* edt_find(const struct edt_terms* terms, edt_moments* moments,
                                               enum edt_order order, __u64 value) {
  const struct edt_moment* moment;
  __u64 place = 0, half = terms->places / 2;  // of 64 bits: see edt_packet
  __s64 later;
  __u32 key, step;
  EDT_UNROLL
  for (step = 0; step < EDT_FIND_STEPS; ++step) {
    key = (__u32)(place + half);
    moment = EDT_MOMENT(moments, key);
    if (!moment) return 0;
    later = (__s64)(value - (order == EDT_BY_TIME ? moment->at : moment->work)) >> 63;  // all ones where it is
    __asm__("" : "+r"(later));  // or the compiler makes it a branch
    place += half & ~(__u64)later;
    half /= 2;
  }
  key = (__u32)place;
  return EDT_MOMENT(moments, key);
}

// The next number. The caller sees to it that one packet takes it at a time.
DEGEN_INLINE __u64 edt_number(struct edt_state* state) {
  return ++state->numbered;
}

// Whether a packet has a number. `from`, `to`: its ports, 0 where it has none.
DEGEN_INLINE int edt_has_number(const struct edt_terms* t, __u32 protocol, __u32 from, __u32 to) {
  if (protocol == EDT_UDP && (from == t->probe_port || to == t->probe_port)) return 0;
  if (t->of_protocol && protocol != t->of_protocol && !(t->of_protocol == EDT_ICMP && protocol == EDT_ICMP6)) return 0;
  return !t->of_port || from == t->of_port || to == t->of_port;
}

// Which fault hits the packet of this number, as edt_find() looks for it: its place and 1; 0: none. `faults`:
// EDT_MOST_FAULTS of them, in the kernel a map.
DEGEN_INLINE __u32 edt_hit(edt_faults* faults, __u64 number) {
  const struct edt_fault* fault;
  __u64 place = 0, half = EDT_MOST_FAULTS / 2;
  __s64 later;
  __u32 key, step;
  EDT_UNROLL
  for (step = 0; step < EDT_HIT_STEPS; ++step) {
    key = (__u32)(place + half);
    fault = EDT_FAULT(faults, key);
    if (!fault) return 0;
    later = (__s64)(number - fault->first) >> 63;
    __asm__("" : "+r"(later));
    place += half & ~(__u64)later;
    half /= 2;
  }
  key = (__u32)place;
  fault = EDT_FAULT(faults, key);
  if (!fault || number < fault->first || number > fault->last) return 0;
  return key + 1;
}

// What a link of this rate does in this time: at most EDT_FASTEST, or the product is too large.
DEGEN_INLINE __u64 edt_work_of(__u64 rate, __u64 time) {
  const __u64 part = time % EDT_NS_PER_SECOND * rate;  // in 1 / EDT_NS_PER_SECOND bits
  return (time / EDT_NS_PER_SECOND * rate + part / EDT_NS_PER_SECOND) * EDT_WORK_PER_BIT +
         part % EDT_NS_PER_SECOND * EDT_WORK_PER_BIT / EDT_NS_PER_SECOND;
}

// How long it takes for that, rounded down. `rate` is not 0.
DEGEN_INLINE __u64 edt_time_of(__u64 rate, __u64 work) {
  const __u64 whole = rate * EDT_WORK_PER_BIT;
  __u64 left = work % whole * 1000;  // by thousandths, or the product is too large
  __u64 time = work / whole * EDT_NS_PER_SECOND + left / whole * 1000000;
  left = left % whole * 1000;
  time += left / whole * 1000;
  left = left % whole * 1000;
  return time + left / whole;
}

// What holds when a packet arrives. False: a part of the schedule is missing.
DEGEN_INLINE int edt_look_up(const struct edt_terms* terms, edt_moments* moments, struct edt_packet* packet) {
  const struct edt_moment* moment;
  __u64 in, before = 0;
  if (terms->moments == 0) {
    packet->delay = terms->delay;
    packet->loss = terms->loss;
    return 1;
  }
  in = packet->arrival > terms->begin ? packet->arrival - terms->begin : 0;
  if (terms->repeat > 0) {
    before = in / terms->repeat * terms->work;
    in %= terms->repeat;
  }
  moment = edt_find(terms, moments, EDT_BY_TIME, in);
  if (!moment) return 0;
  packet->delay = moment->delay;
  packet->loss = moment->loss;
  packet->work = before + moment->work + edt_work_of(moment->rate, in - moment->at);
  return 1;
}

// When a busy link has done this work, which is not 0. 0: a part of the schedule is missing.
DEGEN_INLINE __u64 edt_done(const struct edt_terms* terms, edt_moments* moments, __u64 work) {
  const struct edt_moment* moment;
  __u64 begin = terms->begin;
  if (terms->repeat > 0) {
    // What is done just at the end of a round is done in it: the link may be down when the next one begins.
    const __u64 rounds = (work - 1) / terms->work;
    begin += rounds * terms->repeat;
    work -= rounds * terms->work;
  }
  moment = edt_find(terms, moments, EDT_BY_WORK, work - 1);
  if (!moment || moment->rate == 0) return 0;
  return begin + moment->at + edt_time_of(moment->rate, work - moment->work);
}

// A packet is lost by the state that it finds; the state changes after it, so that the bad one has a mean length of
// 1 / leave.
DEGEN_INLINE int edt_lose(const struct edt_terms* terms, struct edt_state* state, __u64 loss, __u64 number,
                          __u64 random) {
  // Of 64 bits: where they are kept on the stack, only these may lie where a pointer lay (CAP_PERFMON again).
  __u64 enter = terms->enter, leave = terms->leave, loss_bad = terms->loss_bad, loss_good = terms->loss_good;
  int bad;
  if (leave == 0) return degen_chance(loss, random);
  // All four are read, or the compiler makes one read of a pointer that moves, which is for CAP_PERFMON.
  __asm__("" : "+r"(enter), "+r"(leave), "+r"(loss_bad), "+r"(loss_good));
  bad = state->bad != 0;
  if (degen_chance(bad ? leave : enter, random)) state->bad = !bad;
  return degen_chance(bad ? loss_bad : loss_good, degen_draw(terms->seed, number, DEGEN_LOSS_IN_STATE));
}

// Where a jittered packet is due: `due` and a draw from the table, at least `earliest`.
DEGEN_INLINE __u64 edt_jittered(const struct edt_terms* terms, __u64 due, __u64 earliest, __u32 random) {
  const __s64 value = terms->table[random & (EDT_TABLE_SIZE - 1)];
  // The kernel's machine divides unsigned numbers only; towards zero, as draw_deviation() does.
  const __u64 size = terms->jitter * (__u64)(value < 0 ? -value : value) / EDT_TABLE_SCALE;
  if (value >= 0) return due + size;
  return due < earliest + size ? earliest : due - size;
}

// Where nothing but the delay is asked: no state is needed.
DEGEN_INLINE struct edt_decision edt_delayed(const struct edt_terms* terms, const struct edt_packet* packet) {
  const struct edt_decision decision = {packet->arrival + terms->delay, EDT_PASS, terms->flow, 0, 0, 0, 0, 0};
  return decision;
}

// Neither lost nor sent past link and delay.
DEGEN_INLINE int edt_takes_time(const struct edt_decision* decision) {
  return decision->fate == EDT_PASS && !decision->at_once;
}

// The first half: is it lost, is there room for it, what does it leave to those after it. The caller sees to it that
// one packet is in either half at a time; between them those of other processors may have their turn.
DEGEN_INLINE struct edt_decision edt_admit(const struct edt_terms* terms, struct edt_state* state,
                                           const struct edt_packet* packet) {
  const __u64 arrival = packet->arrival;
  struct edt_decision decision = {arrival, EDT_PASS, terms->flow, 0, 0, state->packets, 0, 0};
  const __u64 random = degen_draw(terms->seed, state->packets, DEGEN_LOSS_AND_REORDER);
  __u64 link_free = 0;
  __u64 lost;
  state->packets++;
  lost = edt_lose(terms, state, packet->loss, decision.number, random);
  if (lost && terms->ecn && packet->ecn_capable) {
    lost = 0;
    decision.mark = 1;
  }
  if (lost || packet->harm == EDT_HARM_DROP) {
    state->lost++;
    decision.fate = EDT_LOSE;
    return decision;
  }
  if (terms->rate > 0) {
    // On the link one after the other; then the delay of the distance, for each on its own.
    const __u64 now = terms->moments > 0 ? packet->work : arrival;
    const __u64 longest = terms->moments > 0 ? terms->room : terms->patience;
    link_free = (state->link_free > now ? state->link_free : now) +
                (terms->moments > 0 ? packet->bytes * 8 * EDT_WORK_PER_BIT
                                    : packet->bytes * 8 * EDT_NS_PER_SECOND / terms->rate);
    if (link_free - now > longest) {
      state->overflowed++;
      decision.fate = EDT_OVERFLOW;
      return decision;
    }
  }
  state->marked += decision.mark;
  decision.twice = packet->harm == EDT_HARM_DUPLICATE;
  if (terms->duplicate > 0 && !packet->copy &&
      degen_chance(terms->duplicate, degen_draw(terms->seed, decision.number, DEGEN_LOSS_IN_STATE) >> 32))
    decision.twice = 1;
  if (degen_chance(terms->reorder, random >> 32)) {
    decision.at_once = 1;
    decision.flow = EDT_FLOW_AT_ONCE;
    return decision;
  }
  if (terms->rate > 0) {
    state->link_free = link_free;
    if (terms->moments > 0)
      decision.work = link_free;
    else
      decision.due = link_free;
  }
  return decision;
}

// The second half, of a packet that passes and takes its time: `decision->due` is when it is off the link.
DEGEN_INLINE void edt_place(const struct edt_terms* terms, struct edt_state* state, const struct edt_packet* packet,
                            struct edt_decision* decision) {
  decision->due += packet->delay;
  if (terms->jitter > 0)
    decision->due = edt_jittered(terms, decision->due, packet->arrival,
                                 (__u32)degen_draw(terms->seed, decision->number, DEGEN_JITTER_AND_FLIP));
  if (terms->keep_order) {
    if (decision->due < state->last_due) decision->due = state->last_due;
    state->last_due = decision->due;
  } else {
    decision->flow = (terms->flow + (__u32)(decision->number << 1)) & EDT_FLOW_MASK;
  }
  // Those behind it do not wait.
  if (packet->harm == EDT_HARM_DELAY) {
    decision->due += packet->later;
    decision->flow = ((terms->flow + (__u32)(decision->number << 1)) & EDT_FLOW_MASK) | 1;
    if (decision->flow == EDT_FLOW_AT_ONCE) decision->flow |= 2;
  }
}

#endif
