#include "workloads/suite/nfs/spec.hh"

#include "workloads/suite/parameters.hh"

namespace longhaul::workloads::nfs {
namespace {

constexpr const char* kRead = "read";
constexpr std::int64_t kMost = std::int64_t{1} << 20;  // of a READ or WRITE of Linux's NFS
constexpr std::int64_t kSize = 131072;

std::vector<Capability> needs(const Parameters& parameters) {
  if (streams(parameters)) return {Capability::stream};
  return {Capability::registration};
}

// Over RDMA the server fetches what a WRITE brings: another round trip.
std::optional<double> predict(const Parameters& parameters) {
  const auto round_trip = delays_of(parameters).round_trip();
  if (round_trip == 0) return std::nullopt;
  const auto size = integer_of(parameters, "size", kSize);
  const auto transfer = integer_of(parameters, "transfer", kMost);
  if (choice_of(parameters, "procedure", kRead) == kRead) return round_trip;
  const auto writing = streams(parameters) ? round_trip : 2 * round_trip;
  // Several WRITEs go at a time, unstable: then COMMIT.
  return size > transfer ? writing + round_trip : writing;
}

ParameterSpec count(const char* name, std::int64_t fallback, std::int64_t most, const char* help) {
  return {.name = name,
          .kind = Kind::count,
          .help = help,
          .fallback = Value{fallback},
          .min = 1,
          .max = most,
          .choices = {}};
}

std::vector<ParameterSpec> parameters() {
  auto size = size_parameter(kSize);
  size.help = "bytes that a thread reads or writes at a time";
  size.min = 4096;
  size.max = kMost;
  auto completion = completion_parameter();
  completion.help =
      "poll: the client asks the kernel again and again (io_getevents); event: it sleeps until told (epoll)";
  return with_harness({std::move(size),
                       {.name = "procedure",
                        .kind = Kind::choice,
                        .help = "read or write",
                        .fallback = Value{kRead},
                        .choices = {kRead, "write"}},
                       count("threads", 1, 32,
                             "of the client: each has one operation under way (asynchronous I/O past the page cache)"),
                       count("server_threads", 8, 64, "nfsd's: each sleeps until the RDMA reads of its call are done"),
                       {.name = "transfer",
                        .kind = Kind::size,
                        .help = "rsize and wsize: bytes of one READ or WRITE at the most",
                        .fallback = Value{kMost},
                        .min = 4096,
                        .max = kMost,
                        .choices = {}},
                       count("slots", 128, 128, "calls that the client may have under way"),
                       std::move(completion)});
}

std::vector<MetricSpec> metrics() {
  return {{.name = "operation",
           .unit = "ns",
           .better = Better::lower,
           .help = "from the system call until the kernel says that it is done"},
          {.name = "throughput", .unit = "bit/s", .better = Better::higher, .help = "payload, over all threads"},
          {.name = "chunks",
           .unit = "1",
           .better = Better::neither,
           .help = "read and write chunks of an operation: payload that RDMA moved, by the client's own count",
           .detail = true},
          {.name = "retransmissions",
           .unit = "1",
           .better = Better::lower,
           .help = "calls that were sent again, of an operation",
           .detail = true}};
}

}  // namespace

WorkloadSpec spec() {
  return {
      .name = "nfs",
      .summary = "the kernel's NFS client and server (version 3), over RDMA or over sockets",
      .parameters = parameters(),
      .metrics = metrics(),
      .roles = {Role::client, Role::server},
      .needs = needs,
      .plot_axis = "delay",
      .predict = predict,
  };
}

}  // namespace longhaul::workloads::nfs
