// Reads and writes of one file past the page cache, several at a time (Linux AIO, io_submit(2)).
#pragma once

#include <linux/aio_abi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/fd.hh"
#include "workloads/transport/memory.hh"
#include "workloads/transport/waitable.hh"

namespace longhaul::workloads::nfs {

/// Each of `threads` has a buffer of `size` bytes and its own part of the file, `size` bytes at thread * size. Used by
/// one thread. Throws std::system_error.
class DirectIo final : public Waitable {
 public:
  enum class Way { read, write };
  DirectIo(const std::string& path, Way way, std::size_t threads, std::size_t size);
  /// Waits for what is under way, as the kernel does when a process ends.
  ~DirectIo() override;

  void start(std::size_t thread);
  /// True once what was started is done, of which arm() does not speak again then. Throws when the kernel refuses it,
  /// or did less than all of it.
  bool done(std::size_t thread);
  /// Takes from the kernel what is complete.
  void progress();
  std::span<std::byte> buffer(std::size_t thread) const { return memory_.bytes().subspan(thread * size_, size_); }
  std::uint64_t offset(std::size_t thread) const { return thread * size_; }

  bool arm() override;
  int event_fd() const override { return ready_.get(); }
  std::uint32_t wait_events() const override;

 private:
  struct Thread {
    iocb request{};
    bool under_way = false;
    bool told = false;  // done() spoke of its end
    std::int64_t result = 0;
  };
  std::string path_;
  std::size_t size_;
  Memory memory_;
  OwnFd file_;
  OwnFd ready_;  // an eventfd that the kernel counts up at each completion
  aio_context_t context_ = 0;
  std::vector<Thread> threads_;
};

}  // namespace longhaul::workloads::nfs
