#include "agents/enrolment.hh"

#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <chrono>

#include "agents/identity/pki.hh"
#include "agents/protocol/enrolment.hh"
#include "common/error.hh"
#include "common/line_reader.hh"
#include "observe/facts.hh"

namespace longhaul::agents {
namespace {

constexpr std::chrono::minutes kPatience{1};

template <typename Word>
void say(EnrolmentEnds ends, const Word& word) {
  write_all(ends.out, to_json(word) + "\n", "writing to whoever started this agent");
}

}  // namespace

Result<MemoryCredentials> enrol(EnrolmentEnds ends, const std::string& node) {
  const auto pair = make_key_pair();
  say(ends, EnrolmentRequest{.node = node, .public_key = pair.public_key, .facts = observe::node_facts()});
  LineReader lines{ends.in, kLongestEnrolment};
  const auto line = lines.next(kPatience);
  if (!line) return fail("--enrol: whoever started this agent {}", line.error().message);
  if (!*line) return fail("--enrol: nobody gave a certificate within a minute: longhaul starts agents that enrol");
  const auto grant = enrolment_grant_from_json(**line);
  if (!grant) return fail("--enrol: whoever started this agent gave no certificate: {}", grant.error().message);
  return MemoryCredentials{grant->ca, grant->cert, pair.key};
}

void say_ready(EnrolmentEnds ends, std::uint16_t port) {
  say(ends, EnrolmentReady{.port = port});
}

EnrolmentWatch::EnrolmentWatch(boost::asio::io_context& context, EnrolmentEnds ends, std::function<void()> gone)
    : in_(context, check(::dup(ends.in), "watching who started this agent")) {
  // Nothing more is to come but the end.
  in_.async_read_some(boost::asio::buffer(&byte_, 1), [gone = std::move(gone)](auto error, std::size_t) {
    if (error != boost::asio::error::operation_aborted) gone();
  });
}

void EnrolmentWatch::stop() {
  in_.close();
}

}  // namespace longhaul::agents
