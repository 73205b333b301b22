// TCP sockets: data connections come to the server's own port, beside the control connection.
#pragma once

#include "workloads/transport/transport.hh"

namespace longhaul::workloads::tcp {

std::vector<Transport> transports();

}  // namespace longhaul::workloads::tcp
