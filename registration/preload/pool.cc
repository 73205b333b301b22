// Memory of the library's own, for everything that it makes with new. The thread that hears of mappings that go must
// neither wait for a lock of the program's allocator (whose holder may be the one that waits for that thread, in the
// middle of an unmapping) nor give memory back that is watched (it would wait for itself). What is here is never
// watched, and never unmapped but in large blocks. Size classes are powers of two; a block's class stands before it.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <thread>

namespace {

constexpr std::size_t kHeader = 16;
constexpr std::size_t kLeast = 32;    // bytes of a block, with its header
constexpr std::size_t kClasses = 12;  // to 64 KiB
constexpr std::size_t kSlab = 256 * 1024;
constexpr std::uint32_t kLarge = ~0U;

struct Header {
  std::uint32_t size_class;
  std::uint32_t before;  // bytes from the beginning of a large block's mapping
  std::uint64_t size;    // of that mapping
};
static_assert(sizeof(Header) == kHeader);

struct Free {
  Free* next;
};

class SpinLock {
 public:
  explicit SpinLock(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  ~SpinLock() { flag_.clear(std::memory_order_release); }
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

 private:
  std::atomic_flag& flag_;
};

constinit std::atomic_flag busy = ATOMIC_FLAG_INIT;
constinit Free* free_blocks[kClasses] = {};
constinit char* slab = nullptr;
constinit std::size_t slab_left = 0;

char* map(std::size_t size) {
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc{};
  return static_cast<char*>(memory);
}

void* allocate_large(std::size_t size, std::size_t alignment) {
  const std::size_t before = std::max(kHeader, alignment);
  if (size > SIZE_MAX / 2 || alignment > 4096) throw std::bad_alloc{};
  const std::size_t whole = (size + before + 4095) / 4096 * 4096;
  char* const block = map(whole) + before;
  *reinterpret_cast<Header*>(block - kHeader) = {kLarge, static_cast<std::uint32_t>(before), whole};
  return block;
}

void* allocate(std::size_t size, std::size_t alignment = kHeader) {
  // What wants more than 16 bytes of alignment gets a mapping: a thread's own part is all that does.
  if (alignment > kHeader || size > (kLeast << (kClasses - 1)) - kHeader) return allocate_large(size, alignment);
  const std::size_t whole = std::bit_ceil(std::max(size + kHeader, kLeast));
  const auto size_class = static_cast<std::uint32_t>(std::countr_zero(whole) - std::countr_zero(kLeast));
  const SpinLock lock{busy};
  char* block = nullptr;
  if (auto*& first = free_blocks[size_class]; first != nullptr) {
    block = reinterpret_cast<char*>(first);
    first = first->next;
  } else {
    if (slab_left < whole) {  // the rest is lost: half a slab at the most, where large blocks are asked for
      slab = map(kSlab);
      slab_left = kSlab;
    }
    block = slab + kHeader;
    slab += whole;
    slab_left -= whole;
  }
  reinterpret_cast<Header*>(block - kHeader)->size_class = size_class;
  return block;
}

void release(void* memory) {
  if (memory == nullptr) return;
  char* const block = static_cast<char*>(memory);
  const auto header = *reinterpret_cast<Header*>(block - kHeader);
  if (header.size_class == kLarge) {
    ::munmap(block - header.before, header.size);
    return;
  }
  const SpinLock lock{busy};
  auto* const one = reinterpret_cast<Free*>(block);
  one->next = free_blocks[header.size_class];
  free_blocks[header.size_class] = one;
}

}  // namespace

// Of this library alone: longhaul-cache.map hides them, and the standard library is linked into it.
void* operator new(std::size_t size) {
  return allocate(size);
}
void* operator new[](std::size_t size) {
  return allocate(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete[](void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}
