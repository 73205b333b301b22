#include "agents/protocol/enrolment.hh"

#include "agents/identity/identity.hh"
#include "model/codec.hh"

namespace longhaul::agents {
namespace {

constexpr std::size_t kLongestPem = 16384;

Result<void> check_pem(const char* member, const std::string& text) {
  if (!text.starts_with("-----BEGIN ") || text.size() > kLongestPem)
    return refuse("{}: expected an object in PEM format of at most {} bytes", member, kLongestPem);
  return {};
}

template <typename T>
Result<T> parse_line(std::string_view line) {
  if (line.size() > kLongestEnrolment)
    return refuse("a line of {} bytes, at most {} are taken", line.size(), kLongestEnrolment);
  return codec::parse<T>(line);
}

}  // namespace

bool is_enrolment(std::string_view line) {
  return line.starts_with('{');
}

std::string to_json(const EnrolmentRequest& request) {
  return codec::serialize(request);
}

std::string to_json(const EnrolmentGrant& grant) {
  return codec::serialize(grant);
}

std::string to_json(const EnrolmentReady& ready) {
  return codec::serialize(ready);
}

Result<EnrolmentRequest> enrolment_request_from_json(std::string_view line) {
  auto request = parse_line<EnrolmentRequest>(line);
  if (!request) return request;
  if (auto ok = check_name(request->node); !ok) return refuse("node: {}", ok.error().message);
  if (auto ok = check_pem("public_key", request->public_key); !ok) return tl::unexpected(ok.error());
  return request;
}

Result<EnrolmentGrant> enrolment_grant_from_json(std::string_view line) {
  auto grant = parse_line<EnrolmentGrant>(line);
  if (!grant) return grant;
  if (auto ok = check_pem("ca", grant->ca); !ok) return tl::unexpected(ok.error());
  if (auto ok = check_pem("cert", grant->cert); !ok) return tl::unexpected(ok.error());
  return grant;
}

Result<EnrolmentReady> enrolment_ready_from_json(std::string_view line) {
  auto ready = parse_line<EnrolmentReady>(line);
  if (ready && ready->port == 0) return refuse("port: expected one that is not 0");
  return ready;
}

}  // namespace longhaul::agents
