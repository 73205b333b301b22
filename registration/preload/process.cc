#include "registration/preload/process.hh"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "common/fd.hh"
#include "registration/preload/housekeeper.hh"

namespace longhaul::registration {
namespace {

// Never destroyed: threads of the program may register until the very end.
struct State {
  std::mutex mutex;
  std::optional<Settings> settings;
  std::string text;  // what the settings were made of, where that is not the environment
  std::string off;   // why nothing is kept
  pid_t process = 0;
  std::unique_ptr<Housekeeper> housekeeper;
  std::unique_ptr<Keeper> keeper;
};
std::atomic<State*> state{nullptr};
std::atomic<Keeper*> ready{nullptr};
std::atomic<bool> decided{false};

State& the_state() {
  auto* now = state.load(std::memory_order_acquire);
  if (now != nullptr) return *now;
  auto* const fresh = new State;
  if (state.compare_exchange_strong(now, fresh, std::memory_order_acq_rel)) return *fresh;
  delete fresh;
  return *now;
}

// Our threads take none of the program's signals.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

void say(const std::string& text) {
  (void)!::write(STDERR_FILENO, text.data(), text.size());
}

std::uint64_t locked_memory() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_MEMLOCK, &limit) < 0 ? 0 : limit.rlim_cur;
}

Result<void> open(State& s) {
  utsname kernel{};
  ::uname(&kernel);
  s.process = ::getpid();
  s.housekeeper = std::make_unique<Housekeeper>();
  const SignalsBlocked blocked;
  auto keeper =
      Keeper::open(Process::verbs(), *s.settings, kernel.release, [helper = s.housekeeper.get()] { helper->wake(); });
  if (!keeper) return tl::unexpected(keeper.error());
  s.keeper = std::move(*keeper);
  if (!s.settings->socket.empty()) {
    auto listening = s.housekeeper->listen(with_process(s.settings->socket, s.process),
                                           [&s] { return to_json(s.keeper->statistics(), "", s.process); });
    if (!listening) say("liblonghaul-cache: " + listening.error().message + "\n");
  }
  s.housekeeper->start([raw = s.keeper.get()] { raw->tidy(); });
  return {};
}

// With the lock held.
void decide(State& s, const Result<Settings>& settings) {
  if (!settings) {
    s.off = settings.error().message;
    say(fmt::format("liblonghaul-cache: {}; nothing is kept\n", s.off));
    return;
  }
  s.settings = *settings;
  if (!settings->on) {
    s.off = "LONGHAUL_CACHE=off";
    return;
  }
  try {
    if (auto opened = open(s); !opened) s.off = opened.error().message;
  } catch (const std::exception& error) {
    s.off = error.what();
  }
  if (s.off.empty()) ready.store(s.keeper.get(), std::memory_order_release);
}

}  // namespace

Keeper* Process::keeper() {
  if (auto* now = ready.load(std::memory_order_acquire); now != nullptr) return now;
  if (decided.load(std::memory_order_acquire)) return nullptr;
  auto& s = the_state();
  const std::scoped_lock lock{s.mutex};
  if (decided.load(std::memory_order_relaxed)) return ready.load(std::memory_order_relaxed);
  decide(s, parse_settings([](const char* name) -> const char* { return ::secure_getenv(name); }, locked_memory()));
  decided.store(true, std::memory_order_release);
  return ready.load(std::memory_order_relaxed);
}

Result<Keeper*> Process::keeper_with(std::string_view text) {
  auto& s = the_state();
  const std::scoped_lock lock{s.mutex};
  if (!decided.load(std::memory_order_relaxed)) {
    auto settings = parse_settings(text, locked_memory());
    if (!settings) return tl::unexpected(settings.error());
    s.text = text;
    decide(s, settings);
    decided.store(true, std::memory_order_release);
  } else if (s.off.empty() && !text.empty() && s.text != text) {
    return refuse("this process has a cache with other settings; they are the process's, and the first ones hold");
  }
  if (!s.off.empty()) return refuse("{}", s.off);
  return s.keeper.get();
}

Keeper* Process::keeper_if_any() {
  return ready.load(std::memory_order_acquire);
}

const Verbs& Process::verbs() {
  static const Verbs& found = *new Verbs{next_verbs()};
  return found;
}

void Process::report() {
  auto* const s = state.load(std::memory_order_acquire);
  if (s == nullptr || !s->settings || !decided.load(std::memory_order_acquire)) return;
  if (s->keeper != nullptr && s->process != ::getpid()) return;  // a child, and its parent's cache
  if (!s->settings->socket.empty() && s->keeper != nullptr) s->housekeeper->forget();
  if (s->settings->statistics.empty()) return;
  const auto statistics = s->keeper != nullptr ? s->keeper->statistics() : Statistics{};
  if (s->settings->statistics == "1") {
    say(to_text(statistics, s->off));
    return;
  }
  const auto path = with_process(s->settings->statistics, ::getpid());
  const OwnFd file{::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644)};
  const auto text = to_json(statistics, s->off, ::getpid());
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    say(fmt::format("liblonghaul-cache: LONGHAUL_CACHE_STATS: {} could not be written\n", path));
}

}  // namespace longhaul::registration
