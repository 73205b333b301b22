// Client and server of RPC over RDMA over two memories that copy to one another.
#pragma once

#include <memory>
#include <vector>

#include "tests/workloads/fake.hh"
#include "workloads/protocols/rpc/client.hh"
#include "workloads/protocols/rpc/server.hh"

namespace longhaul::workloads::rpc {

inline void post_receives(FakeConnection& end, const ConnectionPlan& plan) {
  for (std::uint32_t i = 0; i < plan.receives; ++i)
    end.post_receive(plan.receive_offset + i * plan.receive_stride, plan.receive_length);
}

struct Table {
  explicit Table(Options of_both, ServerThreads* shared = nullptr)
      : options(std::move(of_both)),
        client_plan(*plan_of(options, Role::client, false)),
        server_plan(*plan_of(options, Role::server, false)),
        client_end(total_memory(client_plan), client_plan.memory),
        server_end(total_memory(server_plan), server_plan.memory),
        store(options.file_size(), 20000, options.size),
        own{.all = options.server_threads},
        threads(shared == nullptr ? own : *shared) {
    client_end.join(server_end);
    post_receives(client_end, client_plan);
    post_receives(server_end, server_plan);
    client = std::make_unique<RdmaClient>(client_end, options);
    server = std::make_unique<RdmaServer>(server_end, options, store, threads);
  }
  // All threads' calls.
  bool play() {
    for (std::size_t thread = 0; thread < options.threads; ++thread) client->start(thread);
    return settle();
  }
  bool settle() {
    for (int i = 0; i < 1000; ++i) {
      server->advance();
      client->progress();
      bool through = true;
      for (std::size_t thread = 0; thread < options.threads; ++thread) through = through && client->done(thread);
      if (!through) continue;
      // What is on its way at the server's end: RDMA_DONE, acknowledgements.
      for (int more = 0; more < 4; ++more) server->advance();
      return true;
    }
    return false;
  }
  std::vector<Operation> operations(const FakeConnection& end) const {
    std::vector<Operation> all;
    for (const auto& request : end.posted) all.push_back(request.operation);
    return all;
  }

  Options options;
  ConnectionPlan client_plan, server_plan;
  FakeConnection client_end, server_end;
  MemoryStore store;
  ServerThreads own;
  ServerThreads& threads;
  std::unique_ptr<RdmaClient> client;
  std::unique_ptr<RdmaServer> server;
};

}  // namespace longhaul::workloads::rpc
