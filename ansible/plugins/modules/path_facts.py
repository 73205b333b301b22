#!/usr/bin/python
# Copyright: the longhaul authors
# SPDX-License-Identifier: Apache-2.0
"""Tries the paths from an end node to its peers, all in one task."""

DOCUMENTATION = r"""
---
module: path_facts
short_description: Tries the measured paths from this node
description:
  - For each pair of attachments - does the route leave by the attachment's interface, does the peer answer, do packets of
    the interface's full MTU get there unfragmented, and does an RDMA connection bound to the address work (C(rping);
    its listener is started elsewhere). Changes nothing, and never fails - what is wrong is in C(problems).
version_added: 0.1.0
options:
  name:
    description: The node's name in the inventory.
    type: str
    required: true
  pairs:
    description: As the filter longhaul.testbed.pairs gives them.
    type: list
    elements: dict
    required: true
  rdma:
    description: Whether to try RDMA connections to pairs with devices at both ends.
    type: bool
    default: false
author:
  - The longhaul authors
"""

EXAMPLES = r"""
- name: Try the paths
  longhaul.testbed.path_facts:
    name: "{{ inventory_hostname }}"
    pairs: "{{ inventory_hostname | longhaul.testbed.pairs(hostvars, groups) }}"
    rdma: true
"""

RETURN = r"""
ansible_facts:
  description: >-
    The fact C(longhaul_paths) - a list with path, provider, peer, address, peer_address, mtu, rtt_us (median; null
    without an answer), rdma (null where it was not tried) and problems of each pair.
  returned: always
  type: dict
"""

import json
import re
import statistics

from ansible.module_utils.basic import AnsibleModule

RPING_PORT = "7474"


def round_trip(output):
    """Median of ping's answers in microseconds; None without any."""
    times = [float(value) * 1000 for value in re.findall(r"time=([\d.]+) ms", output)]
    return round(statistics.median(times)) if times else None


def route_problem(pair, output):
    """`ip -j route get` must leave by the attachment's own interface, and over the gateway that was given."""
    try:
        route = json.loads(output)[0]
    except (ValueError, IndexError):
        return "there is no route. Remedy: the router's address as gateway in longhaul_attachments, or a route of your own"
    if route.get("dev") != pair["netdev"]:
        return (
            f"the route leaves by {route.get('dev')}, not by {pair['netdev']}. "
            "Remedy: a route of its own (gateway in longhaul_attachments), no route of another kind before it"
        )
    if pair.get("gateway") and route.get("gateway") != pair["gateway"]:
        return f"the route goes over {route.get('gateway', 'no gateway')}, not over {pair['gateway']}. Remedy: apply site again"
    return None


class Prober:
    def __init__(self, module):
        self.module = module

    def run(self, *command):
        program = self.module.get_bin_path(command[0])
        if program is None:
            return 127, f"no program {command[0]}"
        code, out, err = self.module.run_command([program, *command[1:]])
        return code, out if code == 0 else out + err

    def mtu(self, netdev):
        code, out = self.run("ip", "-j", "link", "show", "dev", netdev)
        return json.loads(out)[0]["mtu"] if code == 0 else None

    def ping(self, pair, *options):
        return self.run("ping", "-n", "-W", "2", "-I", pair["address"], *options, pair["peer_address"])

    def try_pair(self, pair, rdma):
        problems = []
        result = {key: pair[key] for key in ("path", "provider", "peer", "address", "peer_address")}
        result.update({"mtu": self.mtu(pair["netdev"]), "rtt_us": None, "rdma": None, "problems": problems})
        dummy, out = self.run("ip", "-j", "route", "get", pair["peer_address"], "from", pair["address"])
        wrong = route_problem(pair, out)
        if wrong:
            problems.append(wrong)
        dummy, out = self.ping(pair, "-c", "5", "-i", "0.2")
        result["rtt_us"] = round_trip(out)
        if result["rtt_us"] is None:
            problems.append(
                "no answer to ping. Remedy: addresses, routes on both ends, forwarding on the router, firewalls"
            )
            return result
        if result["mtu"]:
            headers = 48 if ":" in pair["address"] else 28
            code, out = self.ping(pair, "-c", "2", "-i", "0.2", "-M", "do", "-s", str(result["mtu"] - headers))
            if code != 0:
                problems.append(
                    f"packets of the full MTU {result['mtu']} are lost. "
                    "Remedy: one MTU on all interfaces of the path, the router's and any switch's too"
                )
        if rdma and pair.get("device") and pair.get("peer_device"):
            code, out = self.run(
                "timeout", "-k", "2", "20",
                "rping", "-c", "-I", pair["address"], "-a", pair["peer_address"], "-p", RPING_PORT, "-C", "3",
            )  # fmt: skip
            result["rdma"] = code == 0
            if code != 0:
                last = (out.strip().splitlines() or ["it did not end within 20 s" if code == 124 else "no message"])[-1]
                problems.append(
                    f"no RDMA connection from {pair['device']} to {pair['peer_device']} (rping: {last}). "
                    "Remedy: `rdma link` on both ends, one device an interface, dmesg"
                )
        return result


def main():
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "required": True},
            "pairs": {"type": "list", "elements": "dict", "required": True},
            "rdma": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    prober = Prober(module)
    paths = [prober.try_pair(pair, module.params["rdma"]) for pair in module.params["pairs"]]
    for one in paths:
        where = f"{module.params['name']}: path {one['path']} from {one['address']} to {one['peer']} ({one['peer_address']}): "
        one["problems"] = [where + problem for problem in one["problems"]]
    module.exit_json(changed=False, ansible_facts={"longhaul_paths": paths})


if __name__ == "__main__":
    main()
