// What an engine needs of its router and cannot have there.
#pragma once

#include <fmt/format.h>

#include <boost/describe.hpp>
#include <string>
#include <vector>

namespace longhaul::degen {

enum class Need {
  queues,  ///< packets in netfilter queues (the kernel's nfnetlink_queue): without them there is no engine nfqueue
  queue_counters,  ///< what full queues dropped, in /proc/net/netfilter/nfnetlink_queue: else such losses look like the
                   ///< path's
  real_time        ///< SCHED_FIFO for who holds packets: else delays are as late as a busy router's scheduler
};
BOOST_DESCRIBE_ENUM(Need, queues, queue_counters, real_time)

struct Lack {
  Need need = Need::queues;
  std::string why;  ///< the kernel's refusal
};
BOOST_DESCRIBE_STRUCT(Lack, (), (need, why))

/// A line for people, without its end.
inline std::string describe(const Lack& lack) {
  return fmt::format("degen lacks {} here: {} (longhaul doctor tells the remedy)",
                     boost::describe::enum_to_string(lack.need, "?"), lack.why);
}

}  // namespace longhaul::degen
