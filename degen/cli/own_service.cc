#include "degen/cli/own_service.hh"

#include <chrono>
#include <filesystem>
#include <thread>

#include "common/log.hh"
#include "degen/client/client.hh"

namespace longhaul::degen {
namespace {

using namespace std::chrono_literals;

constexpr auto kAnswerTime = 20s;  // an emulated processor takes some to start two processes
constexpr auto kGlance = 20ms;
constexpr auto kGrace = 5s;  // to take everything away

}  // namespace

Result<OwnService> OwnService::start(const std::string& client_side, const std::string& server_side,
                                     const std::string& socket) {
  if (Client::connect(socket))
    return fail("a degen serves at {} already: leave the interfaces out, or end it first", socket);
  OwnService service{Child{{.arguments = {std::filesystem::read_symlink("/proc/self/exe"), "serve", "--client-side",
                                          client_side, "--server-side", server_side, "--socket", socket, "--run-dir",
                                          std::filesystem::path{socket}.parent_path()},
                            .new_process_group = true}}};
  const auto deadline = std::chrono::steady_clock::now() + kAnswerTime;
  while (!Client::connect(socket)) {
    if (const auto end = service.child_.poll()) return fail("degen serve ended with {}", end->text());
    if (std::chrono::steady_clock::now() > deadline)
      return fail("degen serve does not answer at {} within {} s", socket, kAnswerTime / 1s);
    std::this_thread::sleep_for(kGlance);
  }
  return service;
}

OwnService::~OwnService() {
  if (!child_.running()) return;
  try {
    if (const auto end = child_.terminate(kGrace); !end.ok()) log::warn("degen serve ended with {}", end.text());
  } catch (const std::exception& error) {
    log::warn("degen serve could not be ended: {}", error.what());
  }
}

}  // namespace longhaul::degen
