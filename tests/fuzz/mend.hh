// What a structure-aware target mends in an input after libFuzzer has changed it: numbers that must fit the bytes
// around them, or nearly every input would be refused by its length. One in eight is left as it is, so that refusals
// are tried, too. Used by clang's fuzzers only; a replay does not mutate.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size)
    __attribute__((weak));

namespace longhaul::fuzz {

enum class Order { little, big };

/// Writes the low `width` bytes of a value.
inline void put(std::uint8_t* at, std::size_t width, Order order, std::uint64_t value) {
  for (std::size_t i = 0; i < width; ++i)
    at[order == Order::little ? i : width - 1 - i] = static_cast<std::uint8_t>(value >> (8 * i));
}

inline std::uint64_t get(const std::uint8_t* at, std::size_t width, Order order) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) value = value << 8 | at[order == Order::big ? i : width - 1 - i];
  return value;
}

/// libFuzzer's own mutation, and then `mend(data, size)`, which returns the new size, at most `max_size`.
template <typename Mend>
std::size_t mutate(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed, Mend mend) {
  if (LLVMFuzzerMutate == nullptr) return size;
  size = LLVMFuzzerMutate(data, size, max_size);
  return seed % 8 == 0 ? size : mend(data, size);
}

}  // namespace longhaul::fuzz
