#include "workloads/suite/rpc/spec.hh"

#include "workloads/suite/parameters.hh"

namespace longhaul::workloads::rpc {
namespace {

constexpr const char* kRead = "read";
constexpr const char* kReadWrite = "read-write";
constexpr const char* kReadRead = "read-read";
constexpr const char* kPush = "push";
constexpr const char* kPreregistered = "preregistered";
constexpr const char* kFast = "fast";
constexpr std::int64_t kThreshold = 4096;
constexpr std::int64_t kMostThreshold = 65536;
constexpr std::int64_t kSegment = std::int64_t{1} << 20;
constexpr std::int64_t kOrd = 16;
constexpr std::int64_t kCache = std::int64_t{4} << 20;
constexpr std::int64_t kSeek = 8'000'000;
constexpr std::int64_t kDiskRate = 480'000'000;
// Bytes that a message has beside its payload, header included: a call of WRITE, a reply of READ.
constexpr std::int64_t kWriteOverhead = 128;
constexpr std::int64_t kReplyOverhead = 156;

std::vector<Capability> needs(const Parameters& parameters) {
  std::vector<Capability> wanted{Capability::stream};
  if (!streams(parameters))
    wanted = {Capability::send_receive, Capability::write, Capability::read, Capability::registration};
  if (sleeps(parameters)) wanted.push_back(Capability::event_completion);
  return wanted;
}

// One-way trips until the client has its result (docs/rpc.md).
std::int64_t trips(const Parameters& parameters) {
  if (streams(parameters)) return 2;
  const auto number = [&](const char* name, std::int64_t fallback) { return integer_of(parameters, name, fallback); };
  const auto procedure = choice_of(parameters, "procedure", kRead);
  const auto size = number("size", 4096);
  const bool long_calls = choice_of(parameters, "calls", "chunked") == "long";
  const auto read = size + (procedure == "write" && long_calls ? kWriteOverhead : 0);
  const auto segments = (read + number("segment", kSegment) - 1) / number("segment", kSegment);
  // 0: as the path turns out, which is no less than a call has segments, and as long a message as the call wants.
  const auto ord = number("ord", kOrd) == 0 ? segments : number("ord", kOrd);
  const auto most = number("inline", kThreshold) == 0 ? kMostThreshold : number("inline", kThreshold);
  const auto rows = (segments + ord - 1) / ord;
  if (procedure == "null") return 2;
  const auto design = choice_of(parameters, "design", kReadWrite);
  if (procedure == "write") return size + kWriteOverhead > most && (design != kPush || long_calls) ? 2 + 2 * rows : 2;
  if (design != kReadRead) return 2;
  return size + kReplyOverhead > most ? 2 + 2 * rows : 2;
}

std::optional<double> predict(const Parameters& parameters) {
  const auto one_way = delays_of(parameters).round_trip() / 2;
  if (one_way == 0 || choice_of(parameters, "procedure", kRead) == "oltp") return std::nullopt;
  if (integer_of(parameters, "ahead", 0) > 0) return std::nullopt;  // most find their record here, some wait for it
  return one_way * static_cast<double>(trips(parameters));
}

ParameterSpec count(const char* name, std::int64_t fallback, std::int64_t least, std::int64_t most, const char* help,
                    std::optional<Capability> needed) {
  return {.name = name,
          .kind = Kind::count,
          .help = help,
          .fallback = Value{fallback},
          .min = least,
          .max = most,
          .choices = {},
          .needs = needed};
}

std::vector<ParameterSpec> parameters() {
  constexpr auto kChunks = Capability::registration;
  auto size = size_parameter(4096);
  size.help = "READ, WRITE: bytes of the file; READDIR: of the result; READLINK: of the path";
  size.min = 256;
  size.max = std::int64_t{1} << 20;
  std::vector<ParameterSpec> all{
      std::move(size),
      {.name = "procedure",
       .kind = Kind::choice,
       .help =
           "of NFS version 3: null, read, write, readdir or readlink; oltp: of ten calls eight READs and a WRITE at "
           "random and a WRITE to a log, seeded, `size` on average",
       .fallback = Value{kRead},
       .choices = {"null", kRead, "write", "readdir", "readlink", "oltp"}},
      {.name = "design",
       .kind = Kind::choice,
       .help =
           "read-write: the server writes long replies into memory that the call offers; read-read: the server "
           "offers memory, which the client reads and gives back; push: as read-write, and the client writes WRITE's "
           "payload into memory that the server granted with an earlier reply, the server what is read ahead into "
           "memory that an earlier call granted",
       .fallback = Value{kReadWrite},
       .choices = {kReadWrite, kReadRead, kPush},
       .needs = kChunks},
      count("clients", 1, 1, 64, "of the server, a connection each", std::nullopt),
      count("threads", 1, 1, 128, "of a client, on one connection: each has one call under way", std::nullopt),
      count("ahead", 0, 0, 63,
            "READ: records that a client asks for before its thread wants them; by design push several by one call",
            std::nullopt),
      count("credits", 32, 0, 512,
            "calls under way that the server grants to each client; 0: as many as keep the path busy", std::nullopt),
      {.name = "inline",
       .kind = Kind::size,
       .help =
           "bytes of the largest message that is sent, header included; what does not fit moves by chunks. 0: all of a "
           "call or reply up to 64 KiB where copying it takes less than the round trip that it saves, else 4 KiB",
       .fallback = Value{kThreshold},
       .min = 0,
       .max = kMostThreshold,
       .choices = {},
       .needs = kChunks},
      {.name = "segment",
       .kind = Kind::size,
       .help = "bytes of one segment of a chunk at the most: each is an RDMA operation of its own",
       .fallback = Value{kSegment},
       .min = 4096,
       .max = kSegment,
       .choices = {},
       .needs = kChunks},
      count(
          "ord", kOrd, 0, 128,
          "RDMA reads that either end may have under way; providers may round it up. 0: as many as keep the path busy",
          kChunks),
      count("server_threads", 8, 1, 512,
            "calls that the server works at for all clients together, while each waits for its RDMA reads", kChunks),
      {.name = "serving",
       .kind = Kind::choice,
       .help = "blocking: a server thread waits for its RDMA reads, as Linux's does; asynchronous: it does not",
       .fallback = Value{"blocking"},
       .choices = {"blocking", "asynchronous"},
       .needs = kChunks},
      {.name = "server_buffers",
       .kind = Kind::choice,
       .help = "preregistered: a pool that is registered once (the paper's server cache); each-time: registered for "
               "each call; fast: as preregistered, and opened to a client by a memory window for each call",
       .fallback = Value{kPreregistered},
       .choices = {kPreregistered, "each-time", kFast},
       .needs = kChunks},
      {.name = "calls",
       .kind = Kind::choice,
       .help =
           "of a WRITE that does not fit into a message: chunked, its payload is a chunk, the rest is sent; long, the "
           "whole call is a chunk and the message a header (RDMA_NOMSG)",
       .fallback = Value{"chunked"},
       .choices = {"chunked", "long"},
       .needs = kChunks},
      {.name = "copy",
       .kind = Kind::choice,
       .help =
           "none: payloads are used where RDMA puts them; client: it copies them between its registered buffers and "
           "the application's memory",
       .fallback = Value{"none"},
       .choices = {"none", "client"},
       .needs = kChunks}};
  all.push_back({.name = "invalidation",
                 .kind = Kind::choice,
                 .help =
                     "strategy fast: local, the client closes a call's memory window by a request of its own; remote, "
                     "the server's reply closes it (send with invalidation)",
                 .fallback = Value{"local"},
                 .choices = {"local", "remote"},
                 .needs = kChunks});
  all.push_back({.name = "server",
                 .kind = Kind::choice,
                 .help =
                     "ours, which has its files in memory; or the kernel's NFS server (of a lab), whose own buffers "
                     "and threads it has then",
                 .fallback = Value{"ours"},
                 .choices = {"ours", "kernel"}});
  const auto of_disks = [&](const char* name, Kind kind, const char* help, std::int64_t fallback, std::int64_t least,
                            std::int64_t most) {
    all.push_back({.name = name,
                   .kind = kind,
                   .help = help,
                   .fallback = Value{fallback},
                   .min = least,
                   .max = most,
                   .choices = {}});
  };
  all.push_back({.name = "store",
                 .kind = Kind::choice,
                 .help =
                     "memory: our server has its file there; modelled: it answers READ and WRITE when a page cache and "
                     "disks would, by a model",
                 .fallback = Value{"memory"},
                 .choices = {"memory", "modelled"}});
  of_disks("cache", Kind::size, "modelled: bytes of the file that the server's memory has room for", kCache, 0,
           std::int64_t{1} << 30);
  of_disks("disks", Kind::count, "modelled: how many disks the file is striped over", 8, 1, 64);
  of_disks("seek", Kind::duration, "modelled: what a disk needs before it reads what does not lie behind the last",
           kSeek, 0, 1'000'000'000);
  of_disks("disk_rate", Kind::rate, "modelled: of one disk", kDiskRate, 1'000'000, 1'000'000'000'000);
  all.push_back(completion_parameter());
  for (auto& parameter : strategy_parameters()) {
    if (parameter.name == "strategy") {
      parameter.choices.emplace_back(kFast);
      parameter.help += "; or fast, all at once before, and opened to the server by a memory window for each call";
    }
    all.push_back(std::move(parameter));
  }
  all.push_back({.name = "deferred",
                 .kind = Kind::count,
                 .help =
                     "regions that an end keeps registered after their use; with one more it deregisters all of them "
                     "together, while it waits. 0: each before its call is over",
                 .fallback = Value{std::int64_t{0}},
                 .min = 0,
                 .max = 4096,
                 .choices = {},
                 .needs = kChunks});
  return with_harness(std::move(all));
}

std::vector<MetricSpec> metrics() {
  std::vector<MetricSpec> all{
      {.name = "operation",
       .unit = "ns",
       .better = Better::lower,
       .help = "from the call until its thread has the result, buffers registered and given back"},
      {.name = "throughput",
       .unit = "bit/s",
       .better = Better::higher,
       .help = "payload of READ and WRITE, over all threads"},
      {.name = "ceiling",
       .unit = "bit/s",
       .better = Better::neither,
       .help = "what threads, credits, ord and waiting server threads may have under way at a time / round trip"},
      {.name = "trips",
       .unit = "1",
       .better = Better::neither,
       .help = "one-way trips of an operation, by the chunks that it really had"},
      {.name = "credit_stalls",
       .unit = "1",
       .better = Better::lower,
       .help = "how often a call had to wait until the server granted it",
       .detail = true},
      {.name = "ahead_hits",
       .unit = "1",
       .better = Better::higher,
       .help = "share of the READs whose record, asked for ahead, was there when their thread wanted it",
       .detail = true},
      {.name = "blocked",
       .unit = "ns",
       .better = Better::lower,
       .help = "mean time for which a call kept a thread of the server waiting for RDMA reads",
       .detail = true},
      {.name = "reads_under_way",
       .unit = "1",
       .better = Better::neither,
       .help = "RDMA reads that the server had asked for at a time, at the most",
       .detail = true},
      {.name = "reachable",
       .unit = "ns",
       .better = Better::lower,
       .help = "mean time for which a call left a buffer of the server open to its client",
       .detail = true},
      {.name = "pinned",
       .unit = "B",
       .better = Better::lower,
       .help =
           "bytes of the server that its clients' connections may have registered at the most, known before the first "
           "call",
       .detail = true},
      {.name = "disk_wait",
       .unit = "ns",
       .better = Better::lower,
       .help = "mean time for which a READ or WRITE waited for the modelled disks",
       .detail = true},
      {.name = "cached",
       .unit = "1",
       .better = Better::higher,
       .help = "share of the pages that READs asked for and the modelled cache had",
       .detail = true},
      {.name = "chosen_inline",
       .unit = "B",
       .better = Better::neither,
       .help = "of inline: 0, what the path made of it",
       .detail = true},
      {.name = "chosen_ord",
       .unit = "1",
       .better = Better::neither,
       .help = "of ord: 0, what the path made of it",
       .detail = true},
      {.name = "chosen_credits",
       .unit = "1",
       .better = Better::neither,
       .help = "of credits: 0, what the path made of it",
       .detail = true},
      {.name = "closed_by_peer",
       .unit = "1",
       .better = Better::higher,
       .help = "invalidation: remote: share of the client's memory windows that a reply had closed",
       .detail = true},
      {.name = "idle",
       .unit = "B",
       .better = Better::lower,
       .help = "bytes of the client's regions that stayed registered after their use, at the most at a time",
       .detail = true}};
  return with_strategy(std::move(all));
}

}  // namespace

WorkloadSpec spec() {
  return {
      .name = "rpc",
      .summary = "NFS calls by RPC over RDMA (RFC 8166), Read-Write and Read-Read, or by RPC over sockets",
      .parameters = parameters(),
      .metrics = metrics(),
      .roles = {Role::client, Role::server},
      .needs = needs,
      .plot_axis = "delay",
      .predict = predict,
  };
}

}  // namespace longhaul::workloads::rpc
