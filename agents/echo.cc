#include "agents/echo.hh"

#include <fcntl.h>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "common/error.hh"
#include "observe/probe.hh"

namespace longhaul::agents {

namespace asio = boost::asio;

class Echo : public std::enable_shared_from_this<Echo> {
 public:
  Echo(const asio::any_io_executor& executor, observe::ProbeEcho echo)
      : echo_(std::move(echo)),
        descriptor_(executor, check(::fcntl(echo_.fd(), F_DUPFD_CLOEXEC, 0), "duplicating a probe socket")) {}

  void listen() {
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_read, [weak = weak_from_this()](auto error) {
      const auto self = weak.lock();
      if (error || !self) return;
      self->echo_.answer();
      self->listen();
    });
  }

 private:
  observe::ProbeEcho echo_;
  asio::posix::stream_descriptor descriptor_;
};

Result<std::shared_ptr<Echo>> Echoes::at(const std::string& address) {
  std::erase_if(echoes_, [](const auto& entry) { return entry.second.expired(); });
  if (const auto it = echoes_.find(address); it != echoes_.end()) return it->second.lock();
  auto socket = observe::ProbeEcho::open(address);
  if (!socket) return tl::unexpected(socket.error());
  auto echo = std::make_shared<Echo>(executor_, std::move(*socket));
  echo->listen();
  echoes_[address] = echo;
  return echo;
}

}  // namespace longhaul::agents
