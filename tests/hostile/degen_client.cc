// A client of degen's socket that means harm. Started by degen_test.cc:
//
//   hostile_degen_client SOCKET        does all of kKinds, says what became of each, and holds the last until its input
//   ends
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/error.hh"
#include "common/fd.hh"
#include "common/frame.hh"
#include "degen/client/messages.hh"

namespace longhaul::degen {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kIdle = 1'000;

OwnFd dial(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error("the socket's path is too long");
  std::memcpy(address.sun_path, path.data(), path.size());
  OwnFd fd{check(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "creating a socket")};
  check(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "connecting to degen");
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return fd;
}

/// False: degen does not take it (any more).
bool say(const OwnFd& fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

/// What comes until degen closes or a second passes.
struct Answer {
  std::string words;
  bool closed = false;
};
Answer hear(const OwnFd& fd) {
  Answer answer;
  std::array<char, 65536> buffer{};
  for (;;) {
    const auto got = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
    if (got == 0 || (got < 0 && errno == ECONNRESET)) answer.closed = true;
    if (got <= 0) return answer;
    answer.words.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

/// A connection of its own; it has to be closed.
void must_be_refused(const std::string& path, const char* kind, const std::string& bytes) {
  const auto fd = dial(path);
  (void)say(fd, bytes);
  const auto answer = hear(fd);
  if (!answer.closed) throw std::runtime_error(fmt::format("{}: degen did not close: {}", kind, answer.words));
  fmt::print("  {:12} refused{}\n", kind, answer.words.size() > 4 ? ": " + answer.words.substr(4, 160) : "");
}

std::string request(RequestKind kind) {
  return to_json(Request{.kind = kind, .client = "\x1b[2J\r\nforged"});
}

void absurd(const std::string& path) {
  // Whole requests: understood, and refused without the connection being closed.
  const auto fd = dial(path);
  for (const std::string parameters :
       {R"("delay":-1)", R"("delay":9223372036854775807)", R"("loss":1000001)", R"("no such":1)",
        R"("schedule":"1s down, repeat 1ns")", R"("faults":"drop 1-18446744073709551615")"}) {
    const auto asked =
        fmt::format(R"({{"version":1,"kind":"apply","engine":"nfqueue","parameters":{{{}}}}})", parameters);
    if (!say(fd, encode_frame(asked))) throw std::runtime_error("absurd: degen took no further request");
  }
  const auto answer = hear(fd);
  FrameDecoder decoder;
  (void)decoder.feed(answer.words);
  std::size_t refusals = 0;
  for (std::string reply; decoder.next(reply);) {
    if (reply.find("\"ok\":true") != std::string::npos)
      throw std::runtime_error(fmt::format("absurd: request {} was granted: {}", refusals, reply));
    ++refusals;
  }
  if (refusals != 6 || answer.closed) throw std::runtime_error(fmt::format("absurd: {} refusals", refusals));
  fmt::print("  {:12} {} refusals\n", "absurd", refusals);
}

/// Asks and does not read. Returns when nothing more is taken.
void unread(const std::string& path) {
  const auto fd = dial(path);
  std::string many;
  for (int i = 0; i < 100; ++i) many += encode_frame(request(RequestKind::show));
  std::size_t asked = 0;
  const auto until = Clock::now() + 3s;
  while (Clock::now() < until && say(fd, many)) asked += 100;
  fmt::print("  {:12} {} requests were taken\n", "unread", asked);
}

void dribble(const std::string& path) {
  std::vector<OwnFd> slow;
  const auto frame = encode_frame(request(RequestKind::show));
  for (int i = 0; i < 32; ++i) slow.push_back(dial(path));
  for (std::size_t at = 0; at + 1 < frame.size(); ++at) {
    for (const auto& one : slow) (void)say(one, std::string_view{frame}.substr(at, 1));
    ::poll(nullptr, 0, 5);
  }
  fmt::print("  {:12} {} connections, a byte each 5 ms\n", "dribble", slow.size());
}

int run(const std::vector<std::string>& words) {
  if (words.size() != 2) {
    fmt::print(stderr, "usage: hostile_degen_client SOCKET\n");
    return 2;
  }
  const auto& path = words[1];
  must_be_refused(path, "garbage", std::string(100'000, '\xff'));
  must_be_refused(path, "gigabyte", std::string("\x40\x00\x00\x00", 4) + std::string(100'000, 'x'));
  must_be_refused(path, "deep", encode_frame(std::string(60'000, '[')));
  must_be_refused(path, "version", encode_frame(R"({"version":999,"kind":"show","parameters":{}})"));
  must_be_refused(path, "unknown", encode_frame(R"({"version":1,"kind":"erase","parameters":{}})"));
  must_be_refused(path, "no text", encode_frame(std::string("\0\xfe\x80", 3)));
  absurd(path);
  dribble(path);
  unread(path);
  // Until its input ends; who is turned away at once has it closed, too.
  std::vector<OwnFd> idle;
  for (std::size_t i = 0; i < kIdle; ++i) idle.push_back(dial(path));
  fmt::print("  {:12} {} connections\nall open\n", "idle", idle.size());
  std::fflush(stdout);
  char byte = 0;
  (void)!::read(STDIN_FILENO, &byte, 1);
  return 0;
}

}  // namespace
}  // namespace longhaul::degen

int main(int argc, char** argv) {
  try {
    return longhaul::degen::run({argv, argv + argc});
  } catch (const std::exception& error) {
    std::fflush(stdout);
    fmt::print(stderr, "hostile_degen_client: {}\n", error.what());
    return 1;
  }
}
