#!/usr/bin/python
# Copyright: the longhaul authors
# SPDX-License-Identifier: Apache-2.0
"""Looks at a node, once, and changes nothing: under emulation every Ansible task costs seconds."""

DOCUMENTATION = r"""
---
module: node_facts
short_description: What longhaul's roles need to know about a node
description:
  - Reads interfaces, packages, kernel modules, RDMA devices, the clock, the firewall, who listens on the agent's port, and
    whether running services are those that are installed. Changes nothing.
  - Works before anything is installed. What cannot be known yet (interfaces without C(ip), modules without C(modinfo))
    is null.
version_added: 0.1.0
options:
  packages:
    description: Debian packages that should be there.
    type: list
    elements: str
    default: []
  port:
    description: TCP port of the agent.
    type: int
    default: 7471
author:
  - The longhaul authors
"""

EXAMPLES = r"""
- name: Look at the node
  longhaul.testbed.node_facts:
    packages: [iproute2, ethtool]
    port: 7471
"""

RETURN = r"""
ansible_facts:
  description: The fact C(longhaul_node).
  returned: always
  type: dict
  contains:
    longhaul_node:
      description:
        - distribution, kernel, systemd; interfaces (name to mtu, up, addresses); missing_packages, versions, debs
          (package to SHA-256 of what was installed from a file); modules (name to loaded, available or absent); rdma
          (device to netdev, state); clock (synchronised, service); listener (program and pid on the agent's port);
          stale (services that run another program or environment than the installed); network_script; missing_folders;
          firewall (firewalld, ufw, nftables or empty); came_in (the node's own address of the ssh connection by which
          this runs, or empty); local_ports (first and last of those that the kernel gives to programs that name none).
      returned: always
      type: dict
"""

import ctypes
import glob
import json
import os
import re

from ansible.module_utils.basic import AnsibleModule

SERVICES = {"longhaul-agent": "/etc/longhaul/agent.env", "degen": "/etc/longhaul/degen.env"}
TIME_SERVICES = ["chrony", "chronyd", "systemd-timesyncd", "ntp", "ntpsec", "openntpd", "ptp4l", "phc2sys"]
MODULES = ["rdma_rxe", "siw"]
DEBS = "/var/lib/longhaul-testbed/debs"
FOLDERS = ["/etc/longhaul", "/usr/local/lib/longhaul"]


def read(path):
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""


class Node:
    def __init__(self, module):
        self.module = module

    def run(self, *command):
        """Standard output, or None where the program is absent or fails."""
        program = self.module.get_bin_path(command[0])
        if program is None:
            return None
        code, out, dummy = self.module.run_command([program, *command[1:]])
        return out if code == 0 else None

    def interfaces(self):
        listed = self.run("ip", "-j", "address")
        if listed is None:
            return None
        return {
            one["ifname"]: {
                "mtu": one["mtu"],
                "up": "UP" in one["flags"],
                "addresses": [a["local"] for a in one["addr_info"] if "local" in a],
            }
            for one in json.loads(listed)
            if "ifname" in one
        }

    def packages(self, names):
        """(names that are not fully installed, versions of those that are)."""
        program = self.module.get_bin_path("dpkg-query")
        if program is None:
            return names, {}
        # It exits with 1 when it has never heard of one; what it knows it prints all the same.
        dummy, out, dummy = self.module.run_command(
            [program, "-W", "-f", "${Package} ${db:Status-Abbrev} ${Version}\\n", *names]
        )
        versions = {line.split()[0]: line.split()[2] for line in out.splitlines() if " ii " in line}
        return [name for name in names if name not in versions], versions

    def modules(self):
        def state(name):
            if os.path.isdir("/sys/module/" + name):
                return "loaded"
            if self.module.get_bin_path("modinfo") is None:
                return None
            return "absent" if self.run("modinfo", "-F", "filename", name) is None else "available"

        return {name: state(name) for name in MODULES}

    def rdma(self):
        listed = self.run("rdma", "-j", "link")
        if listed:
            return {
                one["ifname"]: {"netdev": one.get("netdev", ""), "state": one.get("state", "")}
                for one in json.loads(listed)
            }
        devices = {}
        for folder in glob.glob("/sys/class/infiniband/*"):
            port = folder + "/ports/1/"
            devices[os.path.basename(folder)] = {
                "netdev": read(port + "gid_attrs/ndevs/0").strip(),
                "state": read(port + "state").partition(":")[2].strip(),
            }
        return devices

    def clock(self):
        # What `timedatectl show -p NTPSynchronized` reads, without its bus: the kernel counts the error that the clock
        # may have since it was last set right, up to 16 s. modes = 0 changes nothing. maxerror is the fourth long.
        timex = (ctypes.c_long * 64)()
        try:
            code = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(timex))
        except (AttributeError, OSError):
            code = -1
        running = self.active(TIME_SERVICES)
        return {
            "synchronised": code >= 0 and timex[3] < 16000000,
            "error_us": timex[3] if code >= 0 else None,
            "service": running[0] if running else "",
        }

    def active(self, units):
        program = self.module.get_bin_path("systemctl")
        if program is None:
            return []
        dummy, out, dummy = self.module.run_command([program, "is-active", *units])
        return [unit for unit, state in zip(units, out.split()) if state == "active"]

    def firewall(self):
        """The one that runs, as the network script sees it; empty where none does."""
        running = self.active(["firewalld", "nftables"])
        if "firewalld" in running:
            return "firewalld"
        # Its service tells nothing after `ufw enable`.
        if (self.run("ufw", "status") or "").startswith("Status: active"):
            return "ufw"
        return "nftables" if running else ""

    def came_in(self):
        """sudo keeps SSH_CONNECTION from us, but not from whom it was called by."""
        pid = os.getpid()
        while pid > 1:
            for word in read(f"/proc/{pid}/environ").split("\0"):
                if word.startswith("SSH_CONNECTION="):
                    fields = word.split()
                    return fields[2] if len(fields) == 4 else ""
            parent = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
            pid = int(parent[1]) if len(parent) > 1 else 0
        return ""

    def listener(self, port):
        """Who listens there: program and pid; empty where nobody does."""
        out = self.run("ss", "-Hltnp", f"sport = :{port}")
        if not out or not out.strip():
            return {}
        found = re.search(r'"([^"]*)",pid=(\d+)', out)
        return {"program": found.group(1), "pid": int(found.group(2))} if found else {"program": "unknown", "pid": 0}

    def stale(self):
        """Services whose process began before its program or its environment was replaced: so an application that was
        interrupted before its restart is completed by the next."""
        names = sorted(SERVICES)
        out = self.run("systemctl", "show", "-p", "Id", "-p", "MainPID", *names)
        found = []
        for block in (out or "").strip().split("\n\n"):
            fields = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
            name = fields.get("Id", "").replace(".service", "")
            pid = fields.get("MainPID", "0")
            if pid == "0" or name not in SERVICES:
                continue
            try:
                replaced = os.readlink(f"/proc/{pid}/exe").endswith(" (deleted)")
            except OSError:
                continue
            has = set(read(f"/proc/{pid}/environ").split("\0"))
            wants = [line for line in read(SERVICES[name]).splitlines() if "=" in line and not line.startswith("#")]
            if replaced or not has.issuperset(wants):
                found.append(name)
        return found


def main():
    module = AnsibleModule(
        argument_spec={
            "packages": {"type": "list", "elements": "str", "default": []},
            "port": {"type": "int", "default": 7471},
        },
        supports_check_mode=True,
    )
    node = Node(module)
    release = dict(line.split("=", 1) for line in read("/etc/os-release").splitlines() if "=" in line)
    missing, versions = node.packages(module.params["packages"])
    facts = {
        "distribution": release.get("ID", "").strip('"'),
        "systemd": os.path.isdir("/run/systemd/system"),
        "kernel": os.uname()[2],
        "interfaces": node.interfaces(),
        "missing_packages": missing,
        "versions": versions,
        "debs": dict(line.split() for line in read(DEBS).splitlines() if len(line.split()) == 2),
        "modules": node.modules(),
        "rdma": node.rdma(),
        "clock": node.clock(),
        "listener": node.listener(module.params["port"]),
        "firewall": node.firewall(),
        "came_in": node.came_in(),
        "local_ports": [int(word) for word in read("/proc/sys/net/ipv4/ip_local_port_range").split()] or [32768, 60999],
        "stale": node.stale(),
        "missing_folders": [folder for folder in FOLDERS if not os.path.isdir(folder)],
        "network_script": os.path.isfile("/usr/local/lib/longhaul/network"),
    }
    module.exit_json(changed=False, ansible_facts={"longhaul_node": facts})


if __name__ == "__main__":
    main()
