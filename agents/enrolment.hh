// The agent's side of enrolment (protocol/enrolment.hh): credentials from whoever started it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <string>

#include "agents/identity/memory_credentials.hh"
#include "common/result.hh"

namespace longhaul::agents {

/// The two ends of the conversation with whoever started this program.
struct EnrolmentEnds {
  int in = 0;
  int out = 1;
};

/// Makes a key, asks for a certificate in the name of `node`, and waits for it, a minute at most. Errors: the other end
/// is gone, or says something else. Throws std::system_error.
Result<MemoryCredentials> enrol(EnrolmentEnds ends, const std::string& node);

/// Says that the agent listens.
void say_ready(EnrolmentEnds ends, std::uint16_t port);

/// Calls `gone` once when nobody is left at the other end, or it says more than it may.
class EnrolmentWatch {
 public:
  EnrolmentWatch(boost::asio::io_context& context, EnrolmentEnds ends, std::function<void()> gone);
  /// Lets the io_context run out of work.
  void stop();

 private:
  boost::asio::posix::stream_descriptor in_;
  char byte_ = 0;
};

}  // namespace longhaul::agents
