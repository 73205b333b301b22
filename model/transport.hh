// The transports by name, and the capabilities that each offers at best. Pure data: campaigns, agents, the catalog
// and reports go by it. The code behind a transport is workloads/transport/<name>; docs/adding-a-transport.md.
#pragma once

#include <boost/describe.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace longhaul {

/// An ability of a transport that a workload or one of its parameters may need.
enum class Capability {
  stream,                ///< bytes in order, without message boundaries
  send_receive,          ///< messages into receives that the peer has posted
  write,                 ///< into the peer's memory; nothing completes there
  write_with_immediate,  ///< the same, with a completion at the peer
  read,                  ///< from the peer's memory
  event_completion,      ///< a thread can sleep until something completes
  registration,          ///< memory is registered, by the application where it wants to
  any_link               ///< runs on every network interface, beside whatever else does
};
BOOST_DESCRIBE_ENUM(Capability, stream, send_receive, write, write_with_immediate, read, event_completion, registration,
                    any_link)

/// "byte stream", "remote write" ...: after "has no" and "needs".
std::string_view spoken(Capability capability);

struct TransportSpec {
  std::string name;                ///< in campaigns, records and on command lines
  std::string title;               ///< in sentences and legends: "sockets", "RDMA"
  std::vector<Capability> offers;  ///< at best: a device decides for itself when it is opened
  /// The one driver behind it, for all links (any_link). Empty: a cell names one (axis provider), and is measured on
  /// that driver's devices.
  std::string provider = {};
  /// Capabilities that a driver's devices lack although the transport offers them.
  std::map<std::string, std::vector<Capability>, std::less<>> lacking = {};
};

/// All transports, the baseline first.
const std::vector<TransportSpec>& transports();

/// True if a comparison is against it: the others are its challengers.
bool is_baseline(std::string_view transport);

/// By name; nullptr when there is none.
const TransportSpec* find_transport(std::string_view name);

/// True if some device of this transport has it. False for a name that is no transport's.
bool offers(std::string_view transport, Capability capability);

/// All of them, or those that offer something: for lists of choices and messages.
std::vector<std::string> transport_names();
std::vector<std::string> transports_with(Capability capability);

}  // namespace longhaul
