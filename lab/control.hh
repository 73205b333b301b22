// The way into a lab's VMs: ssh (dropbear on both sides) over the forwarded port, with keys made for this one lab.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/plan/topology.hh"

namespace longhaul::lab {

enum class SshServer { dropbear, openssh };

/// Makes the lab's keys in its directory: the client's, and the hosts' with the known_hosts that pins it. Returns what
/// the guests' server needs of them. For OpenSSH's the client's is there in its form too (id_ed25519): for Ansible.
std::vector<OverlayFile> make_keys(const std::string& directory, SshServer server);

/// The command on this machine that runs `command` on a node. `environment` is added to ours.
struct RemoteCommand {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
};
RemoteCommand remote_command(const std::string& directory, std::uint16_t ssh_port, const std::string& node,
                             const std::vector<std::string>& command);

/// One word for a POSIX shell.
std::string shell_quote(const std::string& word);

}  // namespace longhaul::lab
