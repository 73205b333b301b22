#include "agents/echo.hh"

#include <fcntl.h>

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <vector>

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
      self->echo_.answer(self->tokens_);
      self->listen();
    });
  }

  void admit(const Token& token) { tokens_.push_back(token); }
  // Two leases may be of one token.
  void drop(const Token& token) {
    if (const auto it = std::find(tokens_.begin(), tokens_.end(), token); it != tokens_.end()) tokens_.erase(it);
  }

 private:
  observe::ProbeEcho echo_;
  std::vector<Token> tokens_;
  asio::posix::stream_descriptor descriptor_;
};

EchoLease::EchoLease(std::shared_ptr<Echo> echo, const Token& token) : echo_(std::move(echo)), token_(token) {
  echo_->admit(token_);
}

EchoLease::~EchoLease() {
  if (echo_) echo_->drop(token_);
}

Result<EchoLease> Echoes::at(const std::string& address, const Token& token) {
  std::erase_if(echoes_, [](const auto& entry) { return entry.second.expired(); });
  if (const auto it = echoes_.find(address); it != echoes_.end()) return EchoLease{it->second.lock(), token};
  auto socket = observe::ProbeEcho::open(address);
  if (!socket) return tl::unexpected(socket.error());
  auto echo = std::make_shared<Echo>(executor_, std::move(*socket));
  echo->listen();
  echoes_[address] = echo;
  return EchoLease{std::move(echo), token};
}

}  // namespace longhaul::agents
