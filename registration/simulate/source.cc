#include "registration/simulate/source.hh"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>

namespace longhaul::registration {
namespace {

constexpr std::size_t kChunk = std::size_t{256} << 10;
constexpr std::size_t kLongestLine = std::size_t{64} << 10;
constexpr std::string_view kZstdMagic{"\x28\xb5\x2f\xfd", 4};

}  // namespace

struct Source::Zstd {
  ZSTD_DStream* stream = ZSTD_createDStream();
  std::string input;
  std::size_t used = 0;
  bool within_frame = false;
  Zstd() = default;
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;
  ~Zstd() { ZSTD_freeDStream(stream); }
};

Source::Source() = default;
Source::Source(Source&&) noexcept = default;
Source& Source::operator=(Source&&) noexcept = default;
Source::~Source() = default;

Result<Source> Source::open(const std::filesystem::path& path) {
  Source source;
  source.name_ = path.string();
  source.fd_ = OwnFd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!source.fd_) return refuse("{}: {}", source.name_, std::strerror(errno));
  struct stat status {};
  if (::fstat(source.fd_.get(), &status) == 0) source.size_ = static_cast<std::uint64_t>(status.st_size);
  char magic[kZstdMagic.size()];
  const auto got = ::pread(source.fd_.get(), magic, sizeof magic, 0);
  if (got == sizeof magic && std::string_view{magic, sizeof magic} == kZstdMagic)
    source.zstd_ = std::make_unique<Zstd>();
  return source;
}

double Source::fraction() const {
  return size_ == 0 ? 1 : static_cast<double>(read_) / static_cast<double>(size_);
}

// More bytes behind those that are there; false at the end.
Result<bool> Source::fill() {
  if (ended_) return false;
  buffer_.erase(0, begin_);
  begin_ = 0;
  const auto old = buffer_.size();
  buffer_.resize(old + kChunk);
  const auto read_raw = [&](char* to) -> Result<std::size_t> {
    for (;;) {
      const auto got = ::read(fd_.get(), to, kChunk);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return fail("{}: {}", name_, std::strerror(errno));
      read_ += static_cast<std::uint64_t>(got);
      return static_cast<std::size_t>(got);
    }
  };
  if (!zstd_) {
    auto got = read_raw(buffer_.data() + old);
    if (!got) return tl::unexpected(got.error());
    buffer_.resize(old + *got);
    ended_ = *got == 0;
    return !ended_;
  }
  ZSTD_outBuffer out{buffer_.data() + old, kChunk, 0};
  while (out.pos == 0) {
    auto& z = *zstd_;
    if (z.used == z.input.size()) {
      z.input.resize(kChunk);
      auto got = read_raw(z.input.data());
      if (!got) return tl::unexpected(got.error());
      z.input.resize(*got);
      z.used = 0;
      if (*got == 0) {
        if (z.within_frame) return refuse("{}: the zstd archive ends too early, behind {} bytes", name_, offset_ + old);
        ended_ = true;
        break;
      }
    }
    ZSTD_inBuffer in{z.input.data(), z.input.size(), z.used};
    const auto state = ZSTD_decompressStream(z.stream, &out, &in);
    z.used = in.pos;
    if (ZSTD_isError(state) != 0)
      return refuse("{}: not a sound zstd archive behind {} bytes: {}", name_, offset_ + old, ZSTD_getErrorName(state));
    z.within_frame = state != 0;
  }
  buffer_.resize(old + out.pos);
  return !ended_;
}

Result<bool> Source::line(std::string_view& text) {
  auto end = buffer_.find('\n', begin_);
  while (end == std::string::npos) {
    if (buffer_.size() - begin_ > kLongestLine) return refuse("{}:{}: a line beyond 64 KiB", name_, lines_ + 1);
    const auto searched = buffer_.size() - begin_;
    auto more = fill();
    if (!more) return more;
    if (!*more) {
      if (begin_ == buffer_.size()) return false;
      end = buffer_.size();
      break;
    }
    end = buffer_.find('\n', begin_ + searched);
  }
  text = std::string_view{buffer_}.substr(begin_, end - begin_);
  offset_ += text.size() + 1;
  begin_ = std::min(end + 1, buffer_.size());
  if (text.ends_with('\r')) text.remove_suffix(1);
  ++lines_;
  return true;
}

Result<bool> Source::record(std::size_t size, std::string_view& bytes) {
  while (buffer_.size() - begin_ < size) {
    auto more = fill();
    if (!more) return more;
    if (*more) continue;
    if (begin_ == buffer_.size()) return false;
    return refuse("{}: ends within a record, at byte {} of {} (offset {})", name_, buffer_.size() - begin_, size,
                  offset_);
  }
  bytes = std::string_view{buffer_}.substr(begin_, size);
  begin_ += size;
  offset_ += size;
  return true;
}

}  // namespace longhaul::registration
