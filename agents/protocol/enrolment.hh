// How an agent that was started without credentials gets them, over its standard input and output: a line of JSON each,
// in this order. Whoever started it (Slurm's srun) has proved who is at the other end, so nothing is secret here: the
// agent's key never leaves its process.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.hh"
#include "model/facts.hh"

namespace longhaul::agents {

/// The agent's first word: who it is, where it runs, and the key that it has made.
struct EnrolmentRequest {
  std::string node;        ///< the name that its certificate is to have
  std::string public_key;  ///< PEM, SubjectPublicKeyInfo (RFC 5280), ECDSA P-256
  NodeFacts facts;
};
BOOST_DESCRIBE_STRUCT(EnrolmentRequest, (), (node, public_key, facts))

/// The answer.
struct EnrolmentGrant {
  std::string ca;    ///< the authority's certificate, PEM
  std::string cert;  ///< the agent's, PEM
};
BOOST_DESCRIBE_STRUCT(EnrolmentGrant, (), (ca, cert))

/// The agent's last word: it listens.
struct EnrolmentReady {
  std::uint16_t port = 0;
};
BOOST_DESCRIBE_STRUCT(EnrolmentReady, (), (port))

/// The longest line that either side takes, bytes: facts of a large node are some 100 KB.
inline constexpr std::size_t kLongestEnrolment = std::size_t{2} << 20;

/// One of these words, and not what a site's prologue prints before it.
bool is_enrolment(std::string_view line);

std::string to_json(const EnrolmentRequest& request);
std::string to_json(const EnrolmentGrant& grant);
std::string to_json(const EnrolmentReady& ready);

/// Errors name the member.
Result<EnrolmentRequest> enrolment_request_from_json(std::string_view line);
Result<EnrolmentGrant> enrolment_grant_from_json(std::string_view line);
Result<EnrolmentReady> enrolment_ready_from_json(std::string_view line);

}  // namespace longhaul::agents
