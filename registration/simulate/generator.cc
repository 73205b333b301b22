#include "registration/simulate/generator.hh"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/number.hh"
#include "common/random.hh"

namespace longhaul::registration {
namespace {

constexpr std::size_t kMadeAtOnce = 65536;
constexpr std::uint64_t kMostObjects = 100'000'000;
constexpr std::uint64_t kMostRequests = 10'000'000'000;

constexpr std::pair<std::string_view, Sizes> kSizes[] = {
    {"httpd", Sizes::httpd}, {"cello92", Sizes::cello92}, {"uniform", Sizes::uniform}, {"page", Sizes::page}};

// The paper's figure 9 did not survive: of HTTPD its text says that sizes are spread widely up to 32 pages, with many
// large ones; the shares are ours. Of Cello92 it gives the 80 %.
struct Share {
  std::uint32_t largest;  // pages; evenly from the one before it
  double up_to;           // of the objects
};
constexpr Share kHttpd[] = {{1, 0.25}, {2, 0.42}, {4, 0.58}, {8, 0.74}, {16, 0.87}, {32, 1}};

// In [0, bound), by a multiplication, which is fast; some come up more often than others by bound / 2^32 at most.
std::uint32_t below(std::uint32_t bound, Random& random) {
  return static_cast<std::uint32_t>((random.next() >> 32) * bound >> 32);
}

std::uint32_t size_of(Sizes sizes, Random& random) {
  switch (sizes) {
    case Sizes::page:
      return 1;
    case Sizes::uniform:
      return 1 + below(32, random);
    case Sizes::cello92:
      return random.unit() < 0.8 ? 2 : 1;
    case Sizes::httpd:
      break;
  }
  const auto u = random.unit();
  std::uint32_t before = 0;
  for (const auto& share : kHttpd) {
    if (u < share.up_to) return before + 1 + below(share.largest - before, random);
    before = share.largest;
  }
  return before;
}

// Draws from any distribution in constant time (Walker 1977, Vose 1991).
class AliasTable {
 public:
  explicit AliasTable(std::vector<double> weights) : cells_(weights.size()) {
    const auto mean = std::accumulate(weights.begin(), weights.end(), 0.0) / static_cast<double>(weights.size());
    std::vector<std::uint32_t> poor;
    std::vector<std::uint32_t> rich;
    for (std::uint32_t i = 0; i < weights.size(); ++i) {
      weights[i] /= mean;
      (weights[i] < 1 ? poor : rich).push_back(i);
    }
    while (!poor.empty() && !rich.empty()) {
      const auto low = poor.back();
      const auto high = rich.back();
      poor.pop_back();
      cells_[low] = {static_cast<float>(weights[low]), high};
      weights[high] -= 1 - weights[low];
      if (weights[high] >= 1) continue;
      rich.pop_back();
      poor.push_back(high);
    }
    for (const auto* rest : {&poor, &rich})
      for (const auto i : *rest) cells_[i] = {1, i};
  }
  std::uint32_t draw(Random& random) const {
    const auto bits = random.next();
    const auto cell = static_cast<std::uint32_t>((bits >> 32) * cells_.size() >> 32);
    const auto coin = static_cast<float>(bits & 0xffffff) * 0x1p-24F;
    return coin < cells_[cell].keep ? cell : cells_[cell].other;
  }

 private:
  struct Cell {
    float keep = 1;
    std::uint32_t other = 0;
  };
  std::vector<Cell> cells_;
};

AliasTable zipf(const GeneratorOptions& options) {
  std::vector<double> weights(options.objects);
  for (std::size_t k = 0; k < weights.size(); ++k) weights[k] = std::pow(static_cast<double>(k + 1), -options.skew);
  return AliasTable{std::move(weights)};
}

class Generator : public Trace {
 public:
  explicit Generator(const GeneratorOptions& options)
      : options_(options), random_(options.seed), popularity_(zipf(options)), objects_(options.objects) {
    std::uint64_t next = 0;
    for (auto& object : objects_) {
      object = {next, size_of(options.sizes, random_)};
      next += object.count + 1;
    }
    // Else the popular ones would lie side by side.
    for (std::size_t i = objects_.size(); i > 1; --i)
      std::swap(objects_[i - 1], objects_[below(static_cast<std::uint32_t>(i), random_)]);
  }
  Result<void> next(std::vector<Pages>& requests) override {
    requests.resize(std::min<std::uint64_t>(kMadeAtOnce, options_.requests - made_));
    for (auto& request : requests) request = objects_[popularity_.draw(random_)];
    made_ += requests.size();
    return {};
  }
  double fraction() const override { return static_cast<double>(made_) / static_cast<double>(options_.requests); }

 private:
  GeneratorOptions options_;
  Random random_;
  AliasTable popularity_;
  std::vector<Pages> objects_;
  std::uint64_t made_ = 0;
};

template <typename T>
bool parse_into(T& value, std::string_view text, T least, T most) {
  T parsed{};
  if (!read_number(text, parsed) || !(parsed >= least && parsed <= most)) return false;
  value = parsed;
  return true;
}

}  // namespace

Result<GeneratorOptions> parse_generator(std::string_view text) {
  GeneratorOptions options;
  while (!text.empty()) {
    const auto part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const auto equals = std::min(part.find('='), part.size());
    const auto name = part.substr(0, equals);
    const auto value = part.substr(std::min(equals + 1, part.size()));
    bool good = false;
    std::string expected;
    if (name == "requests") {
      good = parse_into<std::uint64_t>(options.requests, value, 1, kMostRequests);
      expected = fmt::format("a number from 1 to {}", kMostRequests);
    } else if (name == "objects") {
      good = parse_into<std::uint64_t>(options.objects, value, 1, kMostObjects);
      expected = fmt::format("a number from 1 to {}", kMostObjects);
    } else if (name == "skew") {
      good = parse_into(options.skew, value, 0.0, 10.0);
      expected = "a number from 0 to 10";
    } else if (name == "seed") {
      good = parse_into<std::uint64_t>(options.seed, value, 0, ~std::uint64_t{0});
      expected = "a number";
    } else if (name == "sizes") {
      for (const auto& [word, sizes] : kSizes) {
        if (word == value) {
          options.sizes = sizes;
          good = true;
        }
        expected += (expected.empty() ? "" : ", ") + std::string{word};
      }
    } else {
      return refuse("--generate: '{}' is none of requests, objects, skew, sizes, seed", name);
    }
    if (!good) return refuse("--generate {}: expected {}, got '{}'", name, expected, value);
  }
  return options;
}

std::unique_ptr<Trace> generate(const GeneratorOptions& options) {
  return std::make_unique<Generator>(options);
}

}  // namespace longhaul::registration
