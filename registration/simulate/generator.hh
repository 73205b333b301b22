// Made-up traces: objects of the papers' size distributions, asked for by Zipf's law.
#pragma once

#include <string>

#include "registration/simulate/trace.hh"

namespace longhaul::registration {

enum class Sizes {
  httpd,    ///< 1 to 32 pages, many sizes: the web server's trace of the MRRC paper
  cello92,  ///< 80 % two pages, the rest one: its disk trace
  uniform,  ///< 1 to 32 pages, all as often
  page      ///< one page
};

struct GeneratorOptions {
  std::uint64_t requests = 1'000'000;
  std::uint64_t objects = 65'536;
  double skew = 0.9;  ///< the k-th most popular is asked for in proportion to k to the power of -skew
  Sizes sizes = Sizes::httpd;
  std::uint64_t seed = 1;
};

/// "requests=N,objects=N,skew=X,sizes=httpd|cello92|uniform|page,seed=N": each may be left out. Refuses unknown words
/// and what is out of range.
Result<GeneratorOptions> parse_generator(std::string_view text);

/// The same options give the same requests, on any machine.
std::unique_ptr<Trace> generate(const GeneratorOptions& options);

}  // namespace longhaul::registration
