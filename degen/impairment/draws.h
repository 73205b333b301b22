// The random numbers of degen's own engines. In C, because two compilers read it: clang for the kernel
// (degen/engines/edt/programs.bpf.c), and g++. A draw follows from seed, packet number and purpose alone: so the same
// seed loses the same packets, in either engine and whatever else is asked of them.
#ifndef LONGHAUL_DEGEN_IMPAIRMENT_DRAWS_H
#define LONGHAUL_DEGEN_IMPAIRMENT_DRAWS_H

#include <linux/types.h>

// Everywhere: the kernel runs one program, and no function is called while it holds a lock.
#define DEGEN_INLINE static inline __attribute__((always_inline))

// What is drawn for a packet: 64 bits for each, of which some take half.
enum degen_purpose {
  DEGEN_LOSS_AND_REORDER,  // low: the loss, or the change of the loss model's state; high: it skips the delay
  DEGEN_JITTER_AND_FLIP,   // low: the place in the distribution's table; high: a bit is flipped
  DEGEN_PLACE,             // of that bit
  DEGEN_LOSS_IN_STATE,     // low: the loss, where the loss model has states; high: it leaves twice
  DEGEN_PURPOSES
};

// Mixes a number into one that looks random: the finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
DEGEN_INLINE __u64 degen_mix(__u64 value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

// For the packet with this number.
DEGEN_INLINE __u64 degen_draw(__u64 seed, __u64 packet, __u64 purpose) {
  return degen_mix(seed + (DEGEN_PURPOSES * packet + purpose + 1) * 0x9e3779b97f4a7c15ULL);
}

// Of a share of 2^32 - 1, by the low 32 bits of a draw.
DEGEN_INLINE int degen_chance(__u64 probability, __u64 random) {
  return probability > 0 && (random & 0xffffffff) <= probability;
}

#endif
