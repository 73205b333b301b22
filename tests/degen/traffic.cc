// Traffic for degen's lab test, both ends in one process (in the compact lab they share a kernel):
//
//   degen_traffic probe FROM TO COUNT              probes and their echoes; degen measures them at the router
//   degen_traffic achieve FROM TO COUNT ENGINE DELAY [emulated]
//                                                  as an agent does it: measure unimpaired, apply, probe, measure,
//                                                  apply again, until the delay is within tolerance
//   degen_traffic hold FROM TO BURST ENGINE DELAY  applies and sends 10,000 packets in bursts under it, as flood does
//   degen_traffic flood FROM TO COUNT BURST        UDP in bursts; prints what was lost (how many, and the sum of their
//                                                  numbers) and reordered, and how much each burst's length changed
//                                                  on the way
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "common/address.hh"
#include "common/error.hh"
#include "common/median.hh"
#include "degen/client/client.hh"
#include "observe/probe.hh"

namespace {

using namespace longhaul;
using namespace std::chrono_literals;

int probe(const std::string& from, const std::string& to, int count) {
  auto echo = observe::ProbeEcho::open(to).value();
  auto sender = observe::ProbeSender::open(from, to).value();
  const auto serve = [&](std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
      if (left.count() <= 0) return;
      pollfd wait[] = {{echo.fd(), POLLIN, 0}, {sender.fd(), POLLIN, 0}};
      ::poll(wait, 2, static_cast<int>(left.count()));
      echo.answer();
      sender.receive();
    }
  };
  for (int i = 0; i < count; ++i) {
    sender.send();
    serve(10ms);
  }
  for (int i = 0; i < 100 && !sender.all_returned(); ++i) serve(10ms);
  fmt::print("sent={} returned={} rtt_median_us={:.1f}\n", sender.sent(), sender.round_trips().size(),
             static_cast<double>(upper_median(sender.round_trips())) / 1e3);
  return 0;
}

int flood(const std::string& from, const std::string& to, int count, int burst);

degen::Report ask(degen::Client& client, degen::RequestKind kind, const std::string& engine = {},
                  std::int64_t delay = 0) {
  degen::Request request{.kind = kind, .engine = {}, .parameters = {}, .force = {}, .client = "degen_traffic"};
  if (kind == degen::RequestKind::apply) {
    request.engine = engine;
    request.parameters["delay"] = delay;
  }
  const auto reply = client.request(request).value();
  if (!reply.ok) throw std::runtime_error(*reply.error);
  return *reply.report;
}

// DESIGN.md's tolerance of the median: max(1 %, 50 us), on an emulated processor max(5 %, 0.2 ms).
bool near(const degen::DirectionReport& way, bool emulated) {
  const auto tolerance =
      emulated ? std::max<std::int64_t>(way.asked / 20, 200'000) : std::max<std::int64_t>(way.asked / 100, 50'000);
  return std::abs(way.achieved - way.asked) <= tolerance;
}

int achieve(const std::string& from, const std::string& to, int count, const std::string& engine, std::int64_t delay,
            bool emulated) {
  auto client = degen::Client::connect(std::string{degen::kDefaultSocket}).value();
  ask(client, degen::RequestKind::measure);
  probe(from, to, count);
  ask(client, degen::RequestKind::measure);
  bool good = false;
  for (int round = 1; round <= 6 && !good; ++round) {
    ask(client, degen::RequestKind::apply, engine, delay);
    probe(from, to, count);
    const auto report = ask(client, degen::RequestKind::measure);
    for (const auto* way : {&report.forward, &report.back})
      fmt::print(
          "{} round={} way={} asked_us={:.1f} programmed_us={:.1f} achieved_us={:.1f} p99_us={:.1f} "
          "unimpaired_us={:.1f} samples={} lost={} reordered={}\n",
          engine, round, way == &report.forward ? "forward" : "back", static_cast<double>(way->asked) / 1e3,
          static_cast<double>(way->programmed) / 1e3, static_cast<double>(way->achieved) / 1e3,
          static_cast<double>(way->p99) / 1e3, static_cast<double>(way->unimpaired) / 1e3, way->samples, way->lost,
          way->reordered);
    good = near(report.forward, emulated) && near(report.back, emulated);
  }
  return good ? 0 : 1;
}

int hold(const std::string& from, const std::string& to, int burst, const std::string& engine, std::int64_t delay) {
  auto client = degen::Client::connect(std::string{degen::kDefaultSocket}).value();
  ask(client, degen::RequestKind::apply, engine, delay);
  std::atomic<bool> done = false;
  std::jthread alive{[&] {
    while (!done) {
      client.heartbeat().value();
      std::this_thread::sleep_for(500ms);
    }
  }};
  const int result = flood(from, to, 10'000, burst);
  done = true;
  alive.join();
  const auto report = ask(client, degen::RequestKind::show);
  fmt::print("dropped={} overflowed={} limit={}\n", report.forward.dropped, report.forward.overflowed,
             report.forward.queue_limit);
  return result;
}

std::int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

int flood(const std::string& from, const std::string& to, int count, int burst) {
  const auto open = [](const std::string& address, std::uint16_t port) {
    const auto bound = parse_address(address, port).value();
    OwnFd fd{check(::socket(AF_INET, SOCK_DGRAM, 0), "socket")};
    check(::bind(fd.get(), bound.get(), bound.length), "bind");
    const int size = 16 << 20;
    check(::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size), "buffer");
    return fd;
  };
  const auto receiver = open(to, 7999);
  const int on = 1;
  check(::setsockopt(receiver.get(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on), "timestamps");
  const auto sender = open(from, 0);
  const auto peer = parse_address(to, 7999).value();

  std::vector<std::int64_t> sent(static_cast<std::size_t>(count));
  std::vector<std::int64_t> received(sent.size());
  int got = 0, reordered = 0, duplicated = 0;
  std::int64_t highest = -1;
  const auto take = [&] {
    for (;;) {
      std::uint32_t number = 0;
      char payload[256];
      char control[128];
      iovec vector{payload, sizeof payload};
      msghdr message{};
      message.msg_iov = &vector;
      message.msg_iovlen = 1;
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      if (::recvmsg(receiver.get(), &message, MSG_DONTWAIT) < static_cast<ssize_t>(sizeof number)) return;
      std::memcpy(&number, payload, sizeof number);
      timespec time{};
      std::memcpy(&time, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof time);
      if (number >= received.size()) continue;
      if (received[number] != 0) {
        ++duplicated;
        continue;
      }
      received[number] = time.tv_sec * 1'000'000'000 + time.tv_nsec;
      ++got;
      if (static_cast<std::int64_t>(number) < highest) ++reordered;
      highest = std::max<std::int64_t>(highest, number);
    }
  };
  for (int i = 0; i < count; ++i) {
    char payload[64] = {};
    std::memcpy(payload, &i, sizeof i);
    sent[static_cast<std::size_t>(i)] = now();
    if (::sendto(sender.get(), payload, sizeof payload, 0, peer.get(), peer.length) < 0)
      sent[static_cast<std::size_t>(i)] = 0;
    if (i % burst == burst - 1) {
      take();
      std::this_thread::sleep_for(5ms);
    }
  }
  for (int i = 0; i < 300 && got < count; ++i) {
    std::this_thread::sleep_for(10ms);
    take();
  }
  std::int64_t lost_sum = 0;
  std::vector<std::int64_t> delays, before, after;
  for (int i = 0; i < count; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (received[k] != 0) delays.push_back(received[k] - sent[k]);
    if (received[k] == 0) lost_sum += i;
    const auto first = k + 1 - static_cast<std::size_t>(burst);
    if (i % burst == burst - 1 && received[k] != 0 && received[first] != 0) {
      before.push_back(sent[k] - sent[first]);
      after.push_back(received[k] - received[first]);
    }
  }
  fmt::print(
      "sent={} received={} lost={} reordered={} lost_sum={} duplicated={} delay_median_us={:.1f} "
      "burst_sent_us={:.1f} burst_received_us={:.1f}\n",
      count, got, count - got, reordered, lost_sum, duplicated, static_cast<double>(upper_median(delays)) / 1e3,
      static_cast<double>(upper_median(before)) / 1e3, static_cast<double>(upper_median(after)) / 1e3);
  return got == count && reordered == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 4 ? argv[1] : "";
  const auto delay = [&] { return parse_quantity(Kind::duration, argv[6]).value(); };
  if (command == "achieve" && argc > 6)
    return achieve(argv[2], argv[3], std::atoi(argv[4]), argv[5], delay(), argc > 7);
  if (command == "hold" && argc > 6) return hold(argv[2], argv[3], std::atoi(argv[4]), argv[5], delay());
  if (command == "probe") return probe(argv[2], argv[3], std::atoi(argv[4]));
  if (command == "flood" && argc > 5) return flood(argv[2], argv[3], std::atoi(argv[4]), std::atoi(argv[5]));
  fmt::print(stderr,
             "usage: degen_traffic probe FROM TO COUNT | flood FROM TO COUNT BURST | achieve FROM TO COUNT ENGINE "
             "DELAY | hold FROM TO BURST ENGINE DELAY\n");
  return 2;
}
