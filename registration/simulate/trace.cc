#include "registration/simulate/trace.hh"

#include <array>
#include <cstring>
#include <functional>
#include <optional>

#include "common/number.hh"
#include "registration/simulate/objects.hh"
#include "registration/simulate/source.hh"

namespace longhaul::registration {
namespace {

constexpr std::size_t kReadAtOnce = 65536;
constexpr std::uint64_t kDiskBlock = 512;
constexpr std::uint64_t kLargestObject = std::uint64_t{1} << 40;

constexpr std::pair<std::string_view, Format> kFormats[] = {{"nasa", Format::nasa},     {"clf", Format::clf},
                                                            {"arc", Format::arc},       {"vscsi", Format::vscsi},
                                                            {"oracle", Format::oracle}, {"csv", Format::csv}};

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  return read_number(text, value) ? std::optional{value} : std::nullopt;
}

// Takes the next field off the front; `separator` may stand there several times when it is a blank.
std::string_view field(std::string_view& line, char separator) {
  if (separator == ' ')
    while (line.starts_with(' ')) line.remove_prefix(1);
  const auto end = line.find(separator);
  const auto text = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  return text;
}

// Why a line or a record is none; empty: it was taken (or holds nothing to take).
using Problem = std::string;

// The common part of all readers: count what is bad, stop when that is too much.
class Reader : public Trace {
 public:
  Reader(Source source, const ReadOptions& options) : source_(std::move(source)), options_(options) {}
  double fraction() const override { return source_.fraction(); }

 protected:
  Result<void> judge(const Problem& problem, const std::string& place) {
    if (problem.empty()) return {};
    if (skipped_ < options_.skip_bad) {
      ++skipped_;
      return {};
    }
    return refuse("{}: {} (skip such ones with --skip-bad N)", place, problem);
  }
  std::string at_line() const { return fmt::format("{}:{}", source_.name(), source_.lines()); }
  std::string at_offset(std::size_t size) const {
    return fmt::format("{}: record at byte {}", source_.name(), source_.offset() - size);
  }
  Source source_;
  ReadOptions options_;
};

Problem push_bytes(std::uint64_t address, std::uint64_t length, std::vector<Pages>& requests) {
  const auto pages = pages_of(address, length);
  if (!pages) return pages.error().message;
  requests.push_back(*pages);
  return {};
}

Problem parse_arc(std::string_view line, std::vector<Pages>& requests) {
  const auto start = number(field(line, ' '));
  const auto blocks = number(field(line, ' '));
  if (!start || !blocks) return "expected 'start_block n_blocks ...'";
  if (*start > ~std::uint64_t{0} / kDiskBlock || *blocks > ~std::uint64_t{0} / kDiskBlock)
    return "blocks beyond any address";
  return push_bytes(*start * kDiskBlock, *blocks * kDiskBlock, requests);
}

class LineTrace : public Reader {
 public:
  using Parse = std::function<Problem(std::string_view line, std::vector<Pages>& requests)>;
  LineTrace(Source source, const ReadOptions& options, Parse parse)
      : Reader(std::move(source), options), parse_(std::move(parse)) {}
  bool by_address() const override { return true; }
  Result<void> next(std::vector<Pages>& requests) override {
    requests.clear();
    std::string_view line;
    while (requests.size() < kReadAtOnce) {
      const auto more = source_.line(line);
      if (!more) return tl::unexpected(more.error());
      if (!*more) return {};
      if (line.empty()) continue;
      if (auto ok = judge(parse_(line, requests), at_line()); !ok) return ok;
    }
    return {};
  }

 private:
  Parse parse_;
};

// Finds the columns of address and length from a CSV's first line.
Result<LineTrace::Parse> csv_parser(Source& source) {
  std::string_view line;
  const auto more = source.line(line);
  if (!more) return tl::unexpected(more.error());
  int address = -1;
  int length = -1;
  int columns = 0;
  if (*more)
    for (; !line.empty(); ++columns) {
      const auto name = field(line, ',');
      if (name == "address") address = columns;
      if (name == "length") length = columns;
    }
  if (address < 0 || length < 0)
    return refuse("{}:1: expected a header with the columns address and length (bytes)", source.name());
  return [=](std::string_view text, std::vector<Pages>& requests) -> Problem {
    std::optional<std::uint64_t> at;
    std::optional<std::uint64_t> bytes;
    for (int column = 0; column < columns; ++column) {
      const auto value = field(text, ',');
      if (column == address) at = number(value);
      if (column == length) bytes = number(value);
    }
    if (!at || !bytes) return "expected a number for address and for length";
    return push_bytes(*at, *bytes, requests);
  };
}

std::uint64_t little_endian(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// Version 1: sn 32, length 32, SGs 32, command 16, version 16, LBA 64, time 64 bits. Version 2: command 16, version 16,
// sn 32, length 32, SGs 32, LBA 64, two times of 64. The version is in the upper byte of its field.
class VscsiTrace : public Reader {
 public:
  VscsiTrace(Source source, const ReadOptions& options) : Reader(std::move(source), options) {}
  bool by_address() const override { return true; }
  Result<void> next(std::vector<Pages>& requests) override {
    requests.clear();
    std::string_view bytes;
    while (requests.size() < kReadAtOnce) {
      auto more = source_.record(kHead, bytes);
      if (!more) return tl::unexpected(more.error());
      if (!*more) return {};
      const auto first = little_endian(bytes, 14, 2) >> 8;
      const auto second = little_endian(bytes, 2, 2) >> 8;
      const auto length_1 = little_endian(bytes, 4, 4);
      const auto length_2 = little_endian(bytes, 8, 4);
      if (version_ == 0) version_ = first == 1 ? 1 : 2;
      const auto rest = version_ == 1 ? std::size_t{16} : std::size_t{24};
      more = source_.record(rest, bytes);
      if (!more) return tl::unexpected(more.error());
      if (!*more) return refuse("{}: ends within a record, at byte {}", source_.name(), source_.offset());
      const bool right = version_ == 1 ? first == 1 : second == 2;
      const auto problem = right ? take(little_endian(bytes, 0, 8), version_ == 1 ? length_1 : length_2, requests)
                                 : fmt::format("not a vscsi record of version {}", version_);
      if (auto ok = judge(problem, at_offset(kHead + rest)); !ok) return ok;
    }
    return {};
  }

 private:
  static constexpr std::size_t kHead = 16;
  static Problem take(std::uint64_t block, std::uint64_t length, std::vector<Pages>& requests) {
    if (length == 0) return {};  // a command that moves nothing
    if (block > ~std::uint64_t{0} / kDiskBlock) return "a block beyond any address";
    return push_bytes(block * kDiskBlock, length, requests);
  }
  int version_ = 0;
};

class OracleTrace : public Reader {
 public:
  OracleTrace(Source source, const ReadOptions& options)
      : Reader(std::move(source), options), objects_(options.largest) {}
  Result<void> next(std::vector<Pages>& requests) override {
    requests.clear();
    std::string_view bytes;
    while (!objects_.fill(requests, kReadAtOnce)) {
      const auto more = source_.record(kRecord, bytes);
      if (!more) return tl::unexpected(more.error());
      if (!*more) return {};
      const auto object = little_endian(bytes, 4, 8);
      objects_.see(object, little_endian(bytes, 12, 4));
      objects_.request(object);
    }
    return {};
  }

 private:
  static constexpr std::size_t kRecord = 24;
  Objects<std::uint64_t> objects_;
};

// A web log: two passes, because an object is as large as its largest answer.
struct Hit {
  std::string_view url;
  std::uint64_t bytes = 0;
};
// None: not a request that moved a file.
using ParseHit = std::function<Problem(std::string_view line, std::optional<Hit>& hit)>;

bool moves_a_file(std::string_view status) {
  return status == "200" || status == "304";
}

Problem take_hit(std::string_view url, std::string_view size, std::optional<Hit>& hit) {
  const auto bytes = size == "-" ? 0 : number(size);
  if (!bytes) return fmt::format("expected a number of bytes, got '{}'", size.substr(0, 40));
  if (*bytes > kLargestObject) return fmt::format("{} bytes in one answer: more than 1 TiB", *bytes);
  hit = Hit{url, *bytes};
  return {};
}

Problem parse_nasa(std::string_view line, std::optional<Hit>& hit) {
  if (line.starts_with("time\t")) return {};
  std::array<std::string_view, 5> fields;
  for (auto& one : fields) {
    if (line.empty()) return "expected five fields: time, method, URL, status, bytes";
    one = field(line, '\t');
  }
  if (!moves_a_file(fields[3])) return {};
  return take_hit(fields[2], fields[4], hit);
}

// host ident user [time] "method URL protocol" status bytes
Problem parse_clf(std::string_view line, std::optional<Hit>& hit) {
  const auto open = line.find('"');
  const auto close = line.rfind('"');
  if (open == std::string_view::npos || close == open) return "expected a request in quotation marks";
  auto request = line.substr(open + 1, close - open - 1);
  auto rest = line.substr(close + 1);
  const auto status = field(rest, ' ');
  const auto size = field(rest, ' ');
  if (!moves_a_file(status)) return {};
  field(request, ' ');
  return take_hit(field(request, ' '), size, hit);
}

class WebTrace : public Reader {
 public:
  static Result<std::unique_ptr<Trace>> open(const std::filesystem::path& path, const ReadOptions& options,
                                             ParseHit parse) {
    auto first = Source::open(path);
    if (!first) return tl::unexpected(first.error());
    auto second = Source::open(path);
    if (!second) return tl::unexpected(second.error());
    auto trace = std::make_unique<WebTrace>(std::move(*first), options, std::move(parse));
    if (auto sized = trace->learn_sizes(); !sized) return tl::unexpected(sized.error());
    trace->source_ = std::move(*second);
    return trace;
  }
  WebTrace(Source source, const ReadOptions& options, ParseHit parse)
      : Reader(std::move(source), options), parse_(std::move(parse)), objects_(options.largest) {}

  Result<void> next(std::vector<Pages>& requests) override {
    requests.clear();
    while (!objects_.fill(requests, kReadAtOnce)) {
      std::optional<Hit> hit;
      const auto more = source_.line(line_);
      if (!more) return tl::unexpected(more.error());
      if (!*more) return {};
      if (parse_(line_, hit).empty() && hit) objects_.request(std::string{hit->url});
    }
    return {};
  }

 private:
  Result<void> learn_sizes() {
    for (;;) {
      std::optional<Hit> hit;
      const auto more = source_.line(line_);
      if (!more) return tl::unexpected(more.error());
      if (!*more) return {};
      if (line_.empty()) continue;
      if (auto ok = judge(parse_(line_, hit), at_line()); !ok) return ok;
      if (hit) objects_.see(std::string{hit->url}, hit->bytes);
    }
  }
  ParseHit parse_;
  Objects<std::string> objects_;
  std::string_view line_;
};

}  // namespace

Result<Format> parse_format(std::string_view name) {
  std::string known;
  for (const auto& [word, format] : kFormats) {
    if (word == name) return format;
    known += (known.empty() ? "" : ", ") + std::string{word};
  }
  return refuse("there is no trace format '{}' (there are {})", name, known);
}

Result<Format> guess_format(const std::filesystem::path& path) {
  auto name = path.filename().string();
  if (name.ends_with(".zst")) name.resize(name.size() - 4);
  if (name.ends_with(".lis")) return Format::arc;
  if (name.ends_with(".vscsi")) return Format::vscsi;
  if (name.ends_with(".csv")) return Format::csv;
  if (name.ends_with(".tsv")) return Format::nasa;
  if (name.ends_with(".log")) return Format::clf;
  if (name.find("oracleGeneral") != std::string::npos) return Format::oracle;
  return refuse("{}: its name does not tell the format; say it with --format", path.string());
}

Result<std::unique_ptr<Trace>> open_trace(const std::filesystem::path& path, Format format,
                                          const ReadOptions& options) {
  if (format == Format::nasa) return WebTrace::open(path, options, parse_nasa);
  if (format == Format::clf) return WebTrace::open(path, options, parse_clf);
  auto source = Source::open(path);
  if (!source) return tl::unexpected(source.error());
  switch (format) {
    case Format::vscsi:
      return std::make_unique<VscsiTrace>(std::move(*source), options);
    case Format::oracle:
      return std::make_unique<OracleTrace>(std::move(*source), options);
    case Format::csv: {
      auto parse = csv_parser(*source);
      if (!parse) return tl::unexpected(parse.error());
      return std::make_unique<LineTrace>(std::move(*source), options, std::move(*parse));
    }
    default:
      return std::make_unique<LineTrace>(std::move(*source), options, parse_arc);
  }
}

}  // namespace longhaul::registration
