#include "workloads/suite/nfs/direct_io.hh"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

#include "common/error.hh"

namespace longhaul::workloads::nfs {
namespace {

constexpr std::size_t kBatch = 32;

}  // namespace

DirectIo::DirectIo(const std::string& path, Way way, std::size_t threads, std::size_t size)
    : path_(path),
      size_(size),
      memory_(threads * size),
      file_(
          check(::open(path.c_str(), (way == Way::read ? O_RDONLY : O_WRONLY) | O_DIRECT | O_CLOEXEC), "open " + path)),
      ready_(check(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "create an eventfd")),
      threads_(threads) {
  for (std::size_t i = 0; i < threads; ++i) {
    auto& request = threads_[i].request;
    request.aio_data = i;
    request.aio_lio_opcode = way == Way::read ? IOCB_CMD_PREAD : IOCB_CMD_PWRITE;
    request.aio_fildes = static_cast<std::uint32_t>(file_.get());
    request.aio_buf = reinterpret_cast<std::uintptr_t>(buffer(i).data());
    request.aio_nbytes = size;
    request.aio_offset = static_cast<std::int64_t>(offset(i));
    request.aio_flags = IOCB_FLAG_RESFD;
    request.aio_resfd = static_cast<std::uint32_t>(ready_.get());
  }
  check(static_cast<int>(::syscall(SYS_io_setup, threads, &context_)), "set up asynchronous I/O");
}

DirectIo::~DirectIo() {
  ::syscall(SYS_io_destroy, context_);
}

void DirectIo::start(std::size_t thread) {
  auto* request = &threads_[thread].request;
  check(static_cast<int>(::syscall(SYS_io_submit, context_, 1L, &request)), "start I/O on " + path_);
  threads_[thread].under_way = true;
  threads_[thread].told = false;
}

void DirectIo::progress() {
  std::array<io_event, kBatch> events;
  timespec now{};
  const auto count = ::syscall(SYS_io_getevents, context_, 0L, static_cast<long>(events.size()), events.data(), &now);
  if (count < 0 && errno != EINTR) throw_errno("ask for I/O that is done on " + path_);
  for (long i = 0; i < count; ++i) {
    const auto& event = events[static_cast<std::size_t>(i)];
    threads_[event.data].under_way = false;
    threads_[event.data].result = event.res;
  }
}

bool DirectIo::done(std::size_t thread) {
  auto& one = threads_[thread];
  if (one.under_way) return false;
  one.told = true;
  if (one.result < 0) throw_errno("read or write " + path_, static_cast<int>(-one.result));
  if (one.result != static_cast<std::int64_t>(size_))
    throw std::runtime_error(fmt::format("{}: {} of {} bytes were read or written", path_, one.result, size_));
  return true;
}

bool DirectIo::arm() {
  // What comes from here on makes it readable again.
  std::uint64_t count = 0;
  static_cast<void>(::read(ready_.get(), &count, sizeof count));
  progress();
  for (const auto& one : threads_)
    if (!one.under_way && !one.told) return false;
  return true;
}

std::uint32_t DirectIo::wait_events() const {
  return EPOLLIN;
}

}  // namespace longhaul::workloads::nfs
