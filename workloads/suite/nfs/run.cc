#include "workloads/suite/nfs/run.hh"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "common/well_known.hh"
#include "workloads/protocols/rpc/kernel.hh"
#include "workloads/protocols/rpc/store.hh"
#include "workloads/protocols/stream.hh"
#include "workloads/suite/nfs/direct_io.hh"
#include "workloads/suite/nfs/mountstats.hh"

namespace longhaul::workloads::nfs {
namespace {

constexpr const char* kFile = "file";

// The connection is not used: it says which device the path has, and looks after the other end. The kernel makes its
// own.
Attempt<ConnectionPlan> plan(const WorkloadSpec& spec, const Parameters& parameters, std::string_view transport, Role) {
  if (!offers(transport, Capability::stream) && !offers(transport, Capability::registration))
    return unsupported("the kernel's NFS uses transport tcp or rdma: not {}", transport);
  ConnectionPlan plan;
  adapt(plan, spec, parameters, transport);
  plan.memory = plan.message = 1;
  return plan;
}

bool reads(const RunSide& session) {
  return session.word("procedure") == "read";
}

class IoLane final : public Lane {
 public:
  IoLane(DirectIo& io, std::size_t thread, std::size_t size, stream::Meter& meter)
      : io_(io), thread_(thread), size_(size), meter_(meter) {}
  void start() override { io_.start(thread_); }
  bool advance() override {
    io_.progress();
    if (!io_.done(thread_)) return false;
    meter_.count(size_, observe::raw_time());
    return true;
  }
  void reset() override { meter_.reset(); }
  Waitable& waitable() override { return io_; }

 private:
  DirectIo& io_;
  std::size_t thread_;
  std::size_t size_;
  stream::Meter& meter_;
};

MountStatistics statistics(const std::string& folder, bool reading) {
  std::ostringstream text;
  text << std::ifstream{"/proc/self/mountstats"}.rdbuf();
  const auto found = read_mountstats(text.str(), folder, reading ? "READ" : "WRITE");
  if (!found) throw std::runtime_error(fmt::format("/proc/self/mountstats does not tell of {}", folder));
  return *found;
}

std::map<std::string, Metric> client(ClientSession& session) {
  const auto threads = static_cast<std::size_t>(session.number("threads"));
  const auto size = static_cast<std::size_t>(session.number("size"));
  const std::string protocol = session.streams() ? "tcp" : "rdma";
  session.await_prepared();
  const auto mount =
      rpc::KernelNfs::mount(session.there().host(), protocol, session.number("transfer"), session.number("slots"));
  const auto before = statistics(mount.folder(), reads(session));
  if (before.protocol != protocol)
    throw std::runtime_error(fmt::format("asked for a mount over {}, the kernel uses {}", protocol, before.protocol));
  std::vector<Samples> samples;
  std::vector<stream::Meter> meters(threads);
  {
    DirectIo io{mount.folder() + "/" + kFile, reads(session) ? DirectIo::Way::read : DirectIo::Way::write, threads,
                size};
    if (!reads(session))
      for (std::size_t i = 0; i < threads; ++i) rpc::fill_content(io.buffer(i), io.offset(i));
    Lanes lanes;
    for (std::size_t i = 0; i < threads; ++i) lanes.push_back(std::make_unique<IoLane>(io, i, size, meters[i]));
    samples = session.measure(lanes, {.sleeping = session.sleeps(), .enough = stream::rounds(threads)});
    if (reads(session))
      for (std::size_t i = 0; i < threads; ++i)
        if (const auto fault = rpc::content_fault(io.buffer(i), io.offset(i)); !fault.empty())
          throw std::runtime_error(fault);
  }
  const auto after = statistics(mount.folder(), reads(session));
  const auto calls = after.calls - before.calls;
  const auto each = [&](std::uint64_t value) {
    return to_metric(calls == 0 ? 0 : static_cast<double>(value) / static_cast<double>(calls), calls);
  };
  std::map<std::string, Metric> metrics{{"operation", to_metric(samples.front())},
                                        {"throughput", to_metric(stream::rate_of(meters), stream::arrivals_of(meters))},
                                        {"retransmissions", each(after.transmissions - before.transmissions - calls)}};
  if (protocol == "rdma") metrics["chunks"] = each(after.chunks - before.chunks);
  return metrics;
}

std::map<std::string, Metric> server(ServerSession& session) {
  const auto served = rpc::KernelNfs::serve(session.number("server_threads"));
  const auto path = std::filesystem::path{kNfsExport} / kFile;
  std::vector<std::byte> content(static_cast<std::size_t>(session.number("threads") * session.number("size")));
  if (reads(session)) rpc::fill_content(content, 0);
  const auto bytes = static_cast<std::streamsize>(content.size());
  std::ofstream{path, std::ios::binary}.write(reinterpret_cast<const char*>(content.data()), bytes);
  session.prepared();
  session.serve({}, true);
  std::ifstream{path, std::ios::binary}.read(reinterpret_cast<char*>(content.data()), bytes);
  if (const auto fault = rpc::content_fault(content, 0); !fault.empty()) throw std::runtime_error(fault);
  return {};
}

}  // namespace

Runner runner() {
  return {.workload = "nfs", .plan = plan, .client = client, .server = server};
}

}  // namespace longhaul::workloads::nfs
