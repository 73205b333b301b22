// The server of any workload: one client after another, or several together where the workload spreads them over nodes.
#pragma once

#include <string>
#include <vector>

#include "common/fd.hh"
#include "model/record.hh"
#include "workloads/harness/admission.hh"
#include "workloads/harness/events.hh"
#include "workloads/harness/listener.hh"
#include "workloads/harness/runner.hh"
#include "workloads/harness/session.hh"
#include "workloads/transport/address.hh"
#include "workloads/transport/plan.hh"

namespace longhaul::workloads {

struct ClientRequest;

struct ServerOptions {
  std::string bind;                   ///< empty: --device's address, else whatever `admission` allows
  std::uint16_t port = kDefaultPort;  ///< 0: any free one
  std::string device;  ///< that clients' runs must use, or network interface; empty: whichever serves the address
  Admission admission = {};
};

/// A client that was served (or several together), for the terminal.
struct Served {
  std::string peer;
  NodeRecord record;
};

class Server {
 public:
  /// `runners`: what it serves; they outlive it.
  static Attempt<Server> open(const ServerOptions& options, const std::vector<Runner>& runners);

  std::uint16_t port() const { return listener_.port(); }
  std::string address() const { return listener_.address(); }

  /// Waits for the next client and serves it, with those that belong to it. Its events are emitted, the last of them
  /// too. Throws Interrupted.
  Attempt<Served> serve_one(Events& events, int stop);

 private:
  Server(ServerOptions options, const std::vector<Runner>& runners, ClientListener listener)
      : options_(std::move(options)), runners_(&runners), listener_(std::move(listener)) {}
  Attempt<Served> serve_clients(std::vector<WaitingClient>& clients, Events& events, int stop);
  Attempt<void> gather(std::vector<WaitingClient>& clients, const ClientRequest& request, Connections& connections,
                       int stop);

  ServerOptions options_;
  const std::vector<Runner>* runners_;
  ClientListener listener_;
  std::uint64_t told_strangers_ = 0;  ///< of listener_.strangers(), in the records so far
};

}  // namespace longhaul::workloads
