// The campaign's question and its answer in a sentence or two. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/summary/comparison.hh"

namespace longhaul::results {

struct Answer {
  std::string question;
  std::string answer;
};

/// From the pairs of one workload, metric and path: those of the first over the WAN, or else of the first on another
/// path. Where nothing is compared with sockets, of the cells that cross no path.
Answer answer_of(const Summary& summary, const std::vector<Pairing>& pairings, const Vocabulary& vocabulary);

/// "RDMA ahead up to about 7.2 ms, then no difference shown", "RDMA ahead at every delay; ..." of one pair.
std::string course_of(const Pairing& pairing);

/// "rxe write, 16KiB": what tells a pair from the others.
std::string name_of(const Pairing& pairing, const Vocabulary& vocabulary);

/// 7.23e6 ns -> "7.2 ms": two digits, whole numbers as they are.
std::string short_time(double nanoseconds);

/// 2.345 -> "2.3", 1.004 -> "1.004", 0.87 -> "0.87": as many digits as tell it from 1.
std::string short_ratio(double ratio);

}  // namespace longhaul::results
