#include "workloads/harness/events.hh"

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "common/frame.hh"

namespace longhaul::workloads {
namespace {

TEST(Events, AreFramesWithATime) {
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  const OwnFd reader{fds[0]};
  {
    Events events{OwnFd{fds[1]}};
    BenchEvent ready;
    ready.kind = BenchEventKind::ready;
    ready.port = 4711;
    events.emit(ready);
    events.emit(BenchEventKind::unsupported, "no such device");
  }
  char buffer[4096];
  const auto got = ::read(reader.get(), buffer, sizeof buffer);
  FrameDecoder decoder;
  ASSERT_TRUE(decoder.feed({buffer, static_cast<std::size_t>(got)}));
  std::string frame;
  ASSERT_TRUE(decoder.next(frame));
  auto event = bench_event_from_json(frame);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, BenchEventKind::ready);
  EXPECT_EQ(event->port, 4711);
  EXPECT_GT(event->time, 1'600'000'000'000'000'000);
  ASSERT_TRUE(decoder.next(frame));
  event = bench_event_from_json(frame);
  EXPECT_EQ(event->kind, BenchEventKind::unsupported);
  EXPECT_EQ(event->message, "no such device");
}

TEST(Events, GoNowhereWithoutASupervisor) {
  ::unsetenv("LONGHAUL_EVENT_FD");
  auto events = Events::from_environment();
  ASSERT_TRUE(events);
  EXPECT_FALSE(*events);
  events->emit(BenchEventKind::ready);
}

TEST(Events, ABadDescriptorIsRefused) {
  for (const auto* text : {"x", "", "-1", "3x", "987654"}) {
    ::setenv("LONGHAUL_EVENT_FD", text, 1);
    EXPECT_FALSE(Events::from_environment()) << text;
  }
  ::unsetenv("LONGHAUL_EVENT_FD");
}

TEST(Events, ASupervisorThatIsGoneDoesNotMatter) {
  const auto old = ::signal(SIGPIPE, SIG_IGN);
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  ::close(fds[0]);
  Events events{OwnFd{fds[1]}};
  events.emit(BenchEventKind::ready);
  EXPECT_FALSE(events);
  ::signal(SIGPIPE, old);
}

}  // namespace
}  // namespace longhaul::workloads
