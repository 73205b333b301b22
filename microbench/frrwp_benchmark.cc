// How long a key that has come waits for its write to be posted: the engine's share of a conditional write, over two
// joined memories (docs/performance.md).
#include <benchmark/benchmark.h>

#include <numeric>

#include "observe/clock.hh"
#include "tests/workloads/fake.hh"
#include "workloads/protocols/frrwp/endpoint.hh"

namespace longhaul::workloads::frrwp {
namespace {

/// state.range(0): conditional writes that are held besides.
void key_to_post(benchmark::State& state) {
  const Layout layout{4096};
  const auto plan = plan_of(4096, 4096, false);
  FakeConnection client{total_memory(plan)};
  FakeConnection server{total_memory(plan)};
  client.join(server);
  for (auto* end : {&client, &server})
    for (std::uint32_t i = 0; i < plan.receives; ++i)
      end->post_receive(plan.receive_offset + i * plan.receive_stride, plan.receive_length);
  Endpoint source{client, layout, 3'600'000'000'000};
  Endpoint sink{server, layout, 3'600'000'000'000};
  const auto order = [&](Tag tag) { return WriteOrder{tag, {{layout.buffers, 4096, {}}}, layout.buffers, 4096}; };
  Tag tag = 0;
  for (std::int64_t i = 0; i < state.range(0); ++i) source.hold(order(1'000'000'000 + static_cast<Tag>(i)));
  for (auto _ : state) {
    source.hold(order(++tag));
    sink.send({.kind = Kind::stcrw,
               .tag = tag,
               .length = 4096,
               .segments = {{layout.buffers, 4096, 0}},
               .moments = {},
               .reason = {}});
    const auto came = observe::raw_time();  // the simulated provider has it in the source's completion queue
    auto event = source.next();
    state.SetIterationTime(static_cast<double>(event->at - came) * 1e-9);
    while (source.next()) {
    }
    while (sink.next()) {
    }
    client.posted.clear();
    server.posted.clear();
  }
}

BENCHMARK(key_to_post)->Arg(0)->Arg(10'000)->UseManualTime()->Unit(benchmark::kNanosecond);

}  // namespace
}  // namespace longhaul::workloads::frrwp

BENCHMARK_MAIN();
