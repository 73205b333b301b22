#include "degen/client/messages.hh"

#include "model/codec.hh"

namespace longhaul::degen {
namespace {

template <typename T>
Result<T> parse(std::string_view text) {
  auto message = codec::parse<T>(text);
  if (message && message->version > kProtocolVersion)
    return fail("degen protocol version {}, this program speaks {}: use programs of one build", message->version,
                kProtocolVersion);
  return message;
}

}  // namespace

std::string to_json(const Request& request) {
  return codec::serialize(request);
}
std::string to_json(const Report& report) {
  return codec::serialize(report);
}
std::string to_json(const Reply& reply) {
  return codec::serialize(reply);
}
Result<Request> request_from_json(std::string_view text) {
  return parse<Request>(text);
}
Result<Reply> reply_from_json(std::string_view text) {
  return parse<Reply>(text);
}

}  // namespace longhaul::degen
