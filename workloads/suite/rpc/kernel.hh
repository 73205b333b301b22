// The kernel's NFS server in the place of ours.
#pragma once

#include <memory>

#include "workloads/harness/session.hh"
#include "workloads/protocols/rpc/options.hh"

namespace longhaul::workloads::rpc {

/// Why the kernel's server cannot do it; empty: it can. Pure.
std::string kernel_lacks(const Options& options);

/// The server's side: the kernel serves a file, a directory and a link, until the client is through. Throws.
void serve_by_kernel(ServerSession& session, const Options& options);

/// The client's side: a connection to it, and the handles of what it serves. Throws.
struct KernelPeer {
  std::unique_ptr<Connection> connection;
  Handles handles;
};
KernelPeer meet_kernel(ClientSession& session, const Options& options, const ConnectionPlan& plan);

}  // namespace longhaul::workloads::rpc
