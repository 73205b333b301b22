// Traces as requests for pages. Each format has a reader of its own; what is asked for by name (a URL, an object) is
// given an address range in the order of first sight.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "registration/cache/pages.hh"

namespace longhaul::registration {

enum class Format {
  nasa,    ///< TSV with a header: time, method, URL, status, bytes
  clf,     ///< Common Log Format of web servers
  arc,     ///< start block, blocks, ignored, sequence number; blocks of 512 bytes
  vscsi,   ///< binary SCSI traces of virtual machines, versions 1 and 2
  oracle,  ///< libCacheSim's oracleGeneral: time 32, object 64, size 32, next access 64 bits
  csv      ///< a header with the columns address and length, in bytes
};

/// By name, or what the file's name says. Refuses others with what there is.
Result<Format> parse_format(std::string_view name);
Result<Format> guess_format(const std::filesystem::path& path);

struct ReadOptions {
  std::uint64_t skip_bad = 0;  ///< lines or records that are dropped before the trace is refused
  std::uint64_t largest = 32;  ///< pages of one request for an object; longer ones are split (MRRC paper's traces)
};

class Trace {
 public:
  virtual ~Trace() = default;
  /// Replaces `requests` with the next ones, in their order; empty at the end. Errors name line or offset.
  virtual Result<void> next(std::vector<Pages>& requests) = 0;
  /// Of the file, for progress.
  virtual double fraction() const = 0;
  /// True: requests name addresses, and may overlap. False: each is for an object, or a fixed part of it.
  virtual bool by_address() const { return false; }
  std::uint64_t skipped() const { return skipped_; }

 protected:
  std::uint64_t skipped_ = 0;
};

Result<std::unique_ptr<Trace>> open_trace(const std::filesystem::path& path, Format format, const ReadOptions& options);

}  // namespace longhaul::registration
