#include "orchestrator/cli/interrupt.hh"

#include <csignal>

#include "common/error.hh"

namespace longhaul::orchestrator {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;  // a signal handler can reach nothing else

void remember(int) {
  g_interrupted = 1;
}

}  // namespace

void watch_interrupts() {
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM}) check(::sigaction(signal, &action, nullptr), "install a signal handler");
  std::signal(SIGPIPE, SIG_IGN);
}

bool interrupted() {
  return g_interrupted != 0;
}

}  // namespace longhaul::orchestrator
