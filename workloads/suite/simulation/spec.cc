#include "workloads/suite/simulation/spec.hh"

#include "registration/policies/strategy.hh"

namespace longhaul::workloads::simulation {
namespace {

ParameterSpec count(std::string name, std::string help, std::int64_t fallback, std::int64_t min, std::int64_t max) {
  return {.name = std::move(name),
          .kind = Kind::count,
          .help = std::move(help),
          .fallback = Value{fallback},
          .min = min,
          .max = max,
          .choices = {}};
}

ParameterSpec choice(std::string name, std::string help, std::vector<std::string> choices) {
  Value first = choices.front();
  return {.name = std::move(name),
          .kind = Kind::choice,
          .help = std::move(help),
          .fallback = std::move(first),
          .choices = std::move(choices)};
}

constexpr std::int64_t kRequests = 200'000;  // made up where nobody says how many
// On an emulated machine with the slowest policy, and a trace of some millions of requests.
constexpr Nanoseconds kRequest = std::chrono::microseconds{5};
constexpr Nanoseconds kTrace = std::chrono::seconds{100};

Result<void> one_policy(const std::string& name) {
  const auto strategies = registration::parse_strategies(name, {registration::cost_profiles().front()});
  if (!strategies) return tl::unexpected(strategies.error());
  if (strategies->size() != 1) return refuse("a run takes one policy, got '{}'; name those to be swept", name);
  return {};
}

Nanoseconds lasts(const Parameters& given) {
  if (choice_of(given, "trace", kGenerated) != kGenerated) return kTrace;
  return integer_of(given, "requests", kRequests) * kRequest;
}

ParameterSpec text(std::string name, std::string help, const char* fallback, std::string punctuation,
                   std::function<Result<void>(const std::string&)> check = {}) {
  return {.name = std::move(name),
          .kind = Kind::choice,
          .help = std::move(help),
          .fallback = Value{fallback},
          .choices = {},
          .punctuation = std::move(punctuation),
          .check = std::move(check)};
}

std::vector<ParameterSpec> parameters() {
  return {
      text("policy",
           "which regions are kept: lru, mrrc, mrrc:frequent=0.6 ...; `longhaul simulate --help` lists them with "
           "their parameters",
           "lru", ":=", one_policy),
      {.name = "capacity",
       .kind = Kind::size,
       .help = "how much may be registered",
       .fallback = Value{std::int64_t{8} << 20},
       .min = 4096,
       .max = std::int64_t{1} << 40,
       .choices = {}},
      choice("cost", "what registering costs, by the papers: of MRRC, of the 2006 one", {"wu2003", "mietke"}),
      text("trace",
           "generated: made up from sizes, objects, requests, skew and seed; else a trace's file on the node, whose "
           "name tells the format",
           kGenerated, "/"),
      choice("sizes", "of the objects: the papers' web server and disk, 1 to 32 pages all as often, one page",
             {"httpd", "cello92", "uniform", "page"}),
      count("objects", "that may be asked for", 8192, 1, 10'000'000),
      count("requests", "that are made", kRequests, 1, 100'000'000),
      {.name = "skew",
       .kind = Kind::fraction,
       .help = "exponent of Zipf's law, by which objects are asked for: 90% is 0.9, 0 is all as often",
       .fallback = Value{900'000},
       .min = 0,
       .max = 10'000'000,
       .choices = {}},
      count("seed", "another one makes up other requests", 1, 0, std::int64_t{1} << 62)};
}

std::vector<MetricSpec> metrics() {
  const auto metric = [](std::string name, const char* unit, Better better, std::string help) {
    return MetricSpec{.name = std::move(name), .unit = unit, .better = better, .help = std::move(help)};
  };
  std::vector<MetricSpec> all{
      metric("hit_ratio", "1", Better::higher, "share of the requests that were registered already"),
      metric("cost_saved", "1", Better::higher,
             "of what it costs to register and deregister for each request: the share that the cache saves"),
      metric("cost", "ns", Better::lower, "of registering and deregistering, all requests together"),
      metric("registrations", "1", Better::neither, "calls that register"),
      metric("deregistrations", "1", Better::neither, "regions that are deregistered"),
      metric("batches", "1", Better::neither, "calls that deregister, where a batch is one"),
      metric("request_pages", "pages", Better::neither, "of a request, median")};
  for (const auto pages : {1, 2, 4, 8, 16, 32})
    all.push_back(metric("share_" + std::to_string(pages), "1", Better::neither,
                         fmt::format("share of the requests of at most {} page{}", pages, pages == 1 ? "" : "s")));
  return all;
}

}  // namespace

WorkloadSpec spec() {
  return {.name = "simulation",
          .summary = "a registration cache over a trace, simulated: what hits, and what registering costs",
          .parameters = parameters(),
          .metrics = metrics(),
          .roles = {Role::local},
          .transports = {},
          .needs = {},
          .plot_axis = "capacity",
          .predict = {},
          .lasts = lasts};
}

}  // namespace longhaul::workloads::simulation
