#include <fmt/ranges.h>
#include <grp.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "common/error.hh"
#include "common/log.hh"
#include "common/signals.hh"
#include "common/watchdog.hh"
#include "degen/cli/commands.hh"
#include "degen/engines/engine.hh"
#include "degen/service/claim.hh"
#include "degen/service/guard.hh"
#include "degen/service/server.hh"

namespace longhaul::degen {
namespace {

// The guard of a degen that was killed clears up first.
constexpr std::chrono::seconds kClaimTime{2};

std::int64_t mtu_of(const std::string& interface) {
  const OwnFd fd{check(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "create a socket")};
  ifreq request{};
  std::memcpy(request.ifr_name, interface.data(), std::min(interface.size(), sizeof request.ifr_name - 1));
  // An interface that is away for the moment: applying will say so; until then any size serves.
  if (::ioctl(fd.get(), SIOCGIFMTU, &request) < 0) return 1500;
  return std::max(request.ifr_mtu, 68);
}

std::vector<Interface> read_interfaces(const std::vector<std::string>& names) {
  std::vector<Interface> interfaces;
  interfaces.reserve(names.size());
  for (const auto& name : names) interfaces.push_back({.name = name, .mtu = mtu_of(name)});
  return interfaces;
}

std::vector<std::string> names_of(const ServeOptions& options) {
  auto names = options.client_side;
  names.insert(names.end(), options.server_side.begin(), options.server_side.end());
  return names;
}

Result<void> check_names(const ServeOptions& options) {
  std::vector<std::string> seen;
  for (const auto& name : names_of(options)) {
    if (name.empty() || name.size() >= IF_NAMESIZE)
      return refuse("'{}': an interface's name has 1 to {} letters", name, IF_NAMESIZE - 1);
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      return refuse("{}: named twice; an interface is on one side of the router", name);
    seen.push_back(name);
  }
  if (seen.size() > kMaxInterfaces) return refuse("{} interfaces; at most {} are served", seen.size(), kMaxInterfaces);
  return {};
}

Result<void> check_presence(const ServeOptions& options) {
  for (const auto& name : names_of(options))
    if (if_nametoindex(name.c_str()) == 0) return refuse("{}: there is no such network interface", name);
  return {};
}

Result<std::vector<OwnFd>> claim_all(const ServeOptions& options) {
  std::vector<OwnFd> claims;
  for (const auto& name : names_of(options)) {
    auto one = claim(name, kClaimTime);
    if (!one) return tl::unexpected(one.error());
    claims.push_back(std::move(*one));
  }
  return claims;
}

// This program once more, with the options that say where to clear.
std::vector<std::string> guard_command(const ServeOptions& options) {
  return {std::filesystem::read_symlink("/proc/self/exe"),
          "guard",
          "--run-dir",
          options.run_directory,
          "--client-side",
          fmt::format("{}", fmt::join(options.client_side, ",")),
          "--server-side",
          fmt::format("{}", fmt::join(options.server_side, ","))};
}

Result<SocketOptions> socket_options(const ServeOptions& options) {
  SocketOptions socket{.path = options.socket.empty() ? options.run_directory + "/degen.sock" : options.socket,
                       .group = {}};
  unsigned mode = 0;
  const auto* end = options.mode.data() + options.mode.size();
  if (const auto [at, ec] = std::from_chars(options.mode.data(), end, mode, 8);
      ec != std::errc{} || at != end || mode > 0777)
    return refuse("--socket-mode: expected an octal mode such as 0660, got '{}'", options.mode);
  socket.mode = static_cast<mode_t>(mode);
  if (options.group) {
    const auto* group = ::getgrnam(options.group->c_str());
    if (group == nullptr) return refuse("--group: there is no group '{}'", *options.group);
    socket.group = group->gr_gid;
  }
  return socket;
}

}  // namespace

Sides sides_of(const ServeOptions& options) {
  return {.client = read_interfaces(options.client_side), .server = read_interfaces(options.server_side)};
}

Result<ExitCode> serve(const ServeOptions& options) {
  if (auto ok = check_names(options); !ok) return tl::unexpected(ok.error());
  const auto socket = socket_options(options);
  if (!socket) return tl::unexpected(socket.error());
  log_to_stderr("degen", LogLine::is_dropped);
  const auto stop = signal_descriptor({SIGINT, SIGTERM, SIGHUP});
  const auto directory = RunDirectory::open(options.run_directory, kClaimTime);
  if (!directory) return tl::unexpected(directory.error());
  const auto claims = claim_all(options);
  if (!claims) return tl::unexpected(claims.error());

  Pulse pulse;
  const EngineOptions engine_options{.spin = options.spin, .alive = [&pulse] {
                                       if (pulse.beat) pulse.beat();
                                     }};
  ImpairmentController controller{[&options] { return sides_of(options); }, make_engines(engine_options), *directory};
  // Before anything else can fail: an interface that is not there keeps none of the others from being cleared.
  for (const auto& what : controller.sweep(unclaimed)) log::warn("removed what an earlier degen left: {}", what);
  if (auto ok = check_presence(options); !ok) return tl::unexpected(ok.error());
  for (const auto& lack : controller.find_lacks()) log::warn("{}", describe(lack));
  std::optional<Guard> guard;
  if (options.guarded) guard.emplace(guard_command(options), *directory, *claims);
  const Watchdog watchdog;
  if (guard) pulse.guard = guard->ended();
  if (guard || watchdog)
    pulse.beat = [&] {
      if (guard) guard->beat();
      watchdog.beat();
    };
  Capture capture{sides_of(options)};
  Listener listener{*socket};
  Server server{listener, controller, &capture, pulse};
  log::info("degen serves on {}", listener.path());
  server.run(stop.get());
  return ExitCode::ok;
}

}  // namespace longhaul::degen
