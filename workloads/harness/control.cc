#include "workloads/harness/control.hh"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "common/log.hh"
#include "common/version.hh"
#include "model/codec.hh"
#include "workloads/transport/socket.hh"

namespace longhaul::workloads {
namespace {

constexpr std::string_view kControlMagic = "LHCT";
constexpr std::string_view kDataMagic = "LHDT";

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = bytes; i-- > 0;) out += static_cast<char>(value >> (8 * i));
}

std::uint64_t take(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

}  // namespace

std::string encode(const Preamble& preamble) {
  std::string bytes{preamble.token.data(), preamble.token.size()};
  bytes += preamble.data ? kDataMagic : kControlMagic;
  put(bytes, preamble.session, 8);
  put(bytes, preamble.lane, 2);
  put(bytes, 0, 2);
  return bytes;
}

std::optional<Preamble> decode_preamble(std::string_view bytes) {
  if (bytes.size() != kPreambleSize) return std::nullopt;
  Preamble preamble;
  bytes.copy(preamble.token.data(), kTokenSize);
  bytes.remove_prefix(kTokenSize);
  preamble.data = bytes.starts_with(kDataMagic);
  if (!preamble.data && !bytes.starts_with(kControlMagic)) return std::nullopt;
  preamble.session = take(bytes.substr(4, 8));
  preamble.lane = static_cast<std::uint16_t>(take(bytes.substr(12, 2)));
  return preamble;
}

std::string to_json(const ControlMessage& message) {
  return boost::json::serialize(codec::encode(message));
}

Result<ControlMessage> control_message_from_json(std::string_view text) {
  boost::json::error_code error;
  const auto value = read_json(text, error);
  if (error) return fail("the peer sent what is no JSON: {}", error.message());
  // The version first: a message of another one may not even have the rest.
  const auto* object = value.if_object();
  const auto* version = object == nullptr ? nullptr : object->if_contains("version");
  if (version != nullptr && version->is_int64() && version->get_int64() != kControlVersion) {
    const auto* program = object->if_contains("program");
    return fail(
        "the peer speaks version {} of the control protocol, this longhaul-bench ({}) version {}: install the same on "
        "both{}",
        version->get_int64(), version_text(), kControlVersion,
        program != nullptr && program->is_string() ? fmt::format("; the peer is {}", std::string{program->get_string()})
                                                   : "");
  }
  auto message = codec::decode<ControlMessage>(value);
  if (!message) return fail("the peer sent a bad control message: {}", message.error().message);
  return message;
}

void ControlChannel::send(const ControlMessage& message, const Patience& patience) {
  write_fully(fd_.get(), encode_frame(to_json(message)), patience, "send over the control connection");
}

Result<std::optional<ControlMessage>> ControlChannel::next() {
  for (;;) {
    std::string frame;
    if (decoder_.next(frame)) {
      auto message = control_message_from_json(frame);
      if (!message) return tl::unexpected(message.error());
      return std::optional<ControlMessage>{std::move(*message)};
    }
    char buffer[16384];
    const auto got = ::recv(fd_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (got == 0) return fail("the peer closed the control connection");
    if (got < 0) {
      if (errno == EAGAIN) return std::optional<ControlMessage>{};
      if (errno == EINTR) continue;
      return fail("control connection: {}", errno_text(errno));
    }
    if (auto fed = decoder_.feed({buffer, static_cast<std::size_t>(got)}); !fed) return tl::unexpected(fed.error());
  }
}

Result<ControlMessage> ControlChannel::receive(const Patience& patience, const std::string& expected) {
  for (;;) {
    auto message = next();
    if (!message) return tl::unexpected(message.error());
    if (*message) return std::move(**message);
    if (!wait_for(fd_.get(), POLLIN, patience)) return fail("{} did not come in time", expected);
  }
}

std::string last_words(ControlChannel& control, std::string_view peer, const Patience& patience) {
  const auto message = control.receive(patience, "");
  if (!message || message->kind != ControlKind::failed || !message->message) return {};
  return fmt::format("; {} said: {}", peer, *message->message);
}

}  // namespace longhaul::workloads
