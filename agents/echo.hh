// Answers probes at addresses of this node, for as long as somebody wants it.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <map>
#include <memory>
#include <string>

#include "common/result.hh"
#include "common/token.hh"

namespace longhaul::agents {

/// One address that answers.
class Echo;

/// Lets an address answer the probes of one token. It stops when this goes.
class EchoLease {
 public:
  EchoLease(std::shared_ptr<Echo> echo, const Token& token);
  ~EchoLease();
  EchoLease(EchoLease&& other) noexcept = default;
  EchoLease& operator=(EchoLease&&) = delete;

 private:
  std::shared_ptr<Echo> echo_;
  Token token_;
};

/// The node's echoes: two sessions that want the same address share it, each with its token.
class Echoes {
 public:
  explicit Echoes(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

  /// Throws std::system_error when the address is not this node's or another program has the port.
  Result<EchoLease> at(const std::string& address, const Token& token);

 private:
  boost::asio::any_io_executor executor_;
  std::map<std::string, std::weak_ptr<Echo>> echoes_;
};

}  // namespace longhaul::agents
