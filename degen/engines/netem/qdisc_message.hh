// The message about engine netem's qdisc, as bytes. Pure: libnl-route 3.7 lacks netem's 64-bit times, its rate and its
// loss models, so it is built attribute by attribute.
#pragma once

#include "degen/engines/netem/plan.hh"
#include "degen/engines/tc/qdisc_message.hh"

namespace longhaul::degen {

/// The root qdisc of interface `index`: whole message, sequence number and port 0. Every option is sent every time,
/// because netem keeps the old value of an absent one.
std::vector<std::byte> netem_message(int index, const NetemQdisc& qdisc, QdiscRequest request);

}  // namespace longhaul::degen
