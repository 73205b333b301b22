// Answers probes at addresses of this node, for as long as somebody wants it.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <map>
#include <memory>
#include <string>

#include "common/result.hh"

namespace longhaul::agents {

/// One address that answers. Stops when the last owner goes.
class Echo;

/// The node's echoes: two sessions that want the same address share it.
class Echoes {
 public:
  explicit Echoes(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

  /// Throws std::system_error when the address is not this node's or another program has the port.
  Result<std::shared_ptr<Echo>> at(const std::string& address);

 private:
  boost::asio::any_io_executor executor_;
  std::map<std::string, std::weak_ptr<Echo>> echoes_;
};

}  // namespace longhaul::agents
