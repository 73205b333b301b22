# Copyright: the longhaul authors
# SPDX-License-Identifier: Apache-2.0
"""What the roles decide: pure functions of the inventory and of what node_facts and path_facts have seen."""

DOCUMENTATION = r"""
---
name: testbed
short_description: Decisions of longhaul's roles
description:
  - Pairs of attachments, problems of nodes and paths with their remedies, certificates that are due, where an agent
    listens, what firewalls let through.
"""

import datetime
import ipaddress
import json

SOFTWARE = ("rxe", "siw")


def _names(items):
    return ", ".join(sorted(items)) or "none"


def _members(groups, *names):
    return [host for name in names for host in groups.get(name, [])]


def _facts(hostvars, host):
    return hostvars[host].get("longhaul_node") or {}


def _firsts(attachments):
    """As the orchestrator chooses: of several with the same path and provider, the first."""
    found = {}
    for one in attachments:
        found.setdefault((one["path"], one.get("provider", "")), one)
    return found


def pairs(host, hostvars, groups):
    """The attachments of `host`, each with its counterpart on every node of the opposite role."""
    peers = groups.get("servers" if host in groups.get("clients", []) else "clients", [])
    if host not in _members(groups, "clients", "servers"):
        return []
    own = _firsts(hostvars[host].get("longhaul_attachments", []))
    found = []
    for peer in peers:
        for key, far in _firsts(hostvars[peer].get("longhaul_attachments", [])).items():
            if key in own:
                near = own[key]
                found.append(
                    {
                        "path": near["path"],
                        "provider": near.get("provider", ""),
                        "netdev": near["netdev"],
                        "address": near["address"],
                        "device": near.get("device", ""),
                        "gateway": near.get("gateway", ""),
                        "peer": peer,
                        "peer_address": far["address"],
                        "peer_device": far.get("device", ""),
                    }
                )
    return found


def nfs_mounts(host, hostvars, groups):
    """What a client mounts of its servers: over sockets on every path, over RDMA where both ends have a device there."""
    if host not in groups.get("clients", []):
        return []
    found = []
    for pair in pairs(host, hostvars, groups):
        # proto= names the family, too: tcp6, rdma6 (nfs(5)).
        family = "6" if ":" in pair["peer_address"] else ""
        kinds = [("tcp", 2049)]
        if pair["device"] and pair["peer_device"]:
            kinds.insert(0, ("rdma", 20049))
        for kind, port in kinds:
            words = [pair["peer"], pair["path"], pair["provider"], kind]
            found.append(
                {
                    "name": "-".join(word for word in words if word),
                    "server": pair["peer"],
                    "address": f"[{pair['peer_address']}]" if family else pair["peer_address"],
                    "transport": kind,
                    "proto": kind + family,
                    "port": port,
                }
            )
    return found


def nfs_clients(host, hostvars, groups):
    """The addresses to which a server exports: those of its clients on the measured paths, and no others."""
    if host not in groups.get("servers", []):
        return []
    return sorted({pair["peer_address"] for pair in pairs(host, hostvars, groups)})


def _address(text):
    try:
        return ipaddress.ip_address(str(text))
    except ValueError:
        return None


def _own_addresses(host, hostvars):
    """Where others can reach the node, by its interfaces; None where it has no `ip` yet."""
    there = _facts(hostvars, host).get("interfaces")
    if there is None:
        return None
    found = {address for nic in there.values() for address in nic["addresses"]}
    # By its loopback only the node itself can: that serves where it is the controller, too.
    local = hostvars[host].get("ansible_connection") == "local"
    return {text for text in found if local or not _address(text).is_loopback}


def control_address(host, hostvars):
    """Where the node's agent listens: longhaul_listen, else the address by which the controller reaches the node, else
    that by which Ansible came in (ansible_host may be a name, or lead to the node by a translation). Empty: unknown."""
    given = hostvars[host].get("longhaul_listen", "")
    if given:
        return given
    own = _own_addresses(host, hostvars)
    for text in (hostvars[host].get("ansible_host", host), _facts(hostvars, host).get("came_in", "")):
        address = _address(text)
        if address is not None and (text in own if own is not None else not address.is_loopback):
            return text
    return ""


def control_problem(host, hostvars):
    """Why the agent cannot listen where it should. Empty: it can, or that cannot be known yet."""
    own = _own_addresses(host, hostvars)
    if own is None:
        return ""
    given = hostvars[host].get("longhaul_listen", "")
    remedy = f"Remedy: longhaul_listen: ADDRESS in the inventory, of the control network; it has {_names(own)}"
    if not control_address(host, hostvars):
        way = hostvars[host].get("ansible_host", host)
        return f"{host}: nobody knows at which address its agent should listen: ansible_host ({way}) is none of its own. {remedy}"
    address = _address(given) if given else None
    if given and (address is None or (given not in own and not address.is_unspecified)):
        return f"{host}: longhaul_listen ({given}) is no address of this node. {remedy}"
    return ""


def port_problem(host, hostvars, port=7471):
    """Who else listens on the agent's port. Empty: nobody, or that cannot be known yet."""
    listener = _facts(hostvars, host).get("listener") or {}
    program = listener.get("program", "longhaul-agent")
    if program == "longhaul-agent":
        return ""
    return (
        f"{host}: TCP port {port} is taken by {program} (pid {listener['pid'] or 'unknown'}). "
        f"Remedy: stop that, or choose another longhaul_port in the inventory"
    )


def firewall_problem(host, hostvars, firewall="auto", controllers=()):
    """Why nobody can say whom the node's firewall is to let in to the agent. Empty: all is said."""
    running = _facts(hostvars, host).get("firewall", "")
    if firewall != "auto" or not running:
        return ""
    if not controllers:
        return (
            f"{host}: {running} runs there, and longhaul_controllers does not say who may reach the agent through it. Remedy: "
            f"longhaul_controllers: [ADDRESS or NETWORK of the controllers] in the inventory, or longhaul_firewall: none "
            f"and rules of your own"
        )
    for one in controllers:
        try:
            ipaddress.ip_network(str(one), strict=False)
        except ValueError:
            return f"{host}: longhaul_controllers: {one} is no address and no network. Remedy: such as 192.0.2.10 or 192.0.2.0/24"
    return ""


# What nfs.j2 has rpcbind, nfsd and mountd listen on.
NFS_PORTS = ("111", "2049", "20048")
# What verify's rping listens on: by sockets over iWARP.
RPING_PORT = "7474"


def _peer_ports(pair, is_server, local_ports):
    """Protocol and port of what the other end of a path sends first. Its answers belong to connections of ours, which
    firewalls know."""
    icmp = "ipv6-icmp" if ":" in pair["peer_address"] else "icmp"
    # The workload's server and rdma_cm take whatever port the kernel gives; 7473: probes.
    found = [(icmp,), ("udp", "7473"), ("tcp", "-".join(str(port) for port in local_ports))]
    if pair["device"] and pair["provider"] != "siw":
        found.append(("udp", "4791"))  # RoCE
    if is_server:
        found += [("tcp", port) for port in NFS_PORTS]
        if pair["device"] and pair["provider"] == "siw":
            found += [("tcp", "20049"), ("tcp", RPING_PORT)]
    return found


def firewall_holes(host, hostvars, groups, port=7471, controllers=()):
    """What a firewall of the node lets through, as items of the network script's kind `accept`."""
    found = [f"tcp {port} {source}" for source in controllers]
    local_ports = _facts(hostvars, host).get("local_ports") or [32768, 60999]
    for pair in pairs(host, hostvars, groups):
        for words in _peer_ports(pair, host in groups.get("servers", []), local_ports):
            found.append(" ".join(["peer", pair["netdev"], pair["peer_address"], *words]))
    for link in hostvars[host].get("longhaul_links", []):
        found.append(f"forward {link['client_side']} {link['server_side']}")
        found.append(f"forward {link['server_side']} {link['client_side']}")
    return list(dict.fromkeys(found))


def interface_problems(host, hostvars):
    """Interfaces and addresses that the inventory names and the node has not. Empty where there is no `ip` yet."""
    there = _facts(hostvars, host).get("interfaces")
    if there is None:
        return []
    found = []

    def missing(name, what, where):
        found.append(
            f"{host}: network interface {name} ({what}) is not there; it has {_names(there)}. "
            f"Remedy: correct {where} in the inventory"
        )

    for one in hostvars[host].get("longhaul_attachments", []):
        name = one["netdev"]
        if name not in there:
            missing(name, "path " + one["path"], "longhaul_attachments")
        elif one["address"] not in there[name]["addresses"]:
            found.append(
                f"{host}: {name} has not the address {one['address']} but {_names(there[name]['addresses'])}. Remedy: "
                f"give it that address in the machine's own network configuration, or correct longhaul_attachments"
            )
        elif not there[name]["up"]:
            found.append(f"{host}: {name} is down. Remedy: bring it up in the machine's own network configuration")
    for link in hostvars[host].get("longhaul_links", []):
        for side in ("client_side", "server_side"):
            if link[side] not in there:
                missing(link[side], side, "longhaul_links")
    return found


def mtu_problems(host, hostvars, groups):
    """All interfaces of a path should take packets of one size. Says so to every host that is on such a path."""
    found = {}

    def note(path, name, netdev):
        nic = (_facts(hostvars, name).get("interfaces") or {}).get(netdev)
        if nic is not None:
            found.setdefault(path, {}).setdefault(nic["mtu"], []).append((name, netdev))

    for name in _members(groups, "clients", "servers", "routers"):
        for one in hostvars[name].get("longhaul_attachments", []):
            note(one["path"], name, one["netdev"])
        for link in hostvars[name].get("longhaul_links", []):
            note("wan", name, link["client_side"])
            note("wan", name, link["server_side"])
    problems = []
    for path, mtus in sorted(found.items()):
        if len(mtus) < 2 or not any(name == host for who in mtus.values() for name, netdev in who):
            continue
        text = "; ".join(
            f"{mtu} on " + ", ".join(f"{name} {netdev}" for name, netdev in who) for mtu, who in sorted(mtus.items())
        )
        problems.append(
            f"{host}: the MTUs on path {path} differ: {text}. Remedy: the same everywhere, in the machines' own network "
            f"configuration (ip link set IF mtu N until then): large packets would be lost or cut"
        )
    return problems


def rdma_problems(host, hostvars):
    """RDMA devices that cannot be had on this node. Links of rxe and siw that are not there yet are none."""
    facts = _facts(hostvars, host)
    there = facts.get("rdma", {})
    found = []
    carried = {}
    for one in hostvars[host].get("longhaul_attachments", []):
        device, provider, netdev = one.get("device", ""), one.get("provider", ""), one["netdev"]
        if not device:
            if provider:
                found.append(
                    f"{host}: the attachment {netdev} has a provider ({provider}) and no device. "
                    f"Remedy: name it in longhaul_attachments"
                )
            continue
        if carried.setdefault(netdev, device) != device:
            found.append(
                f"{host}: {netdev} is to carry {carried[netdev]} and {device}: RDMA connections would take whichever "
                f"came first. Remedy: one RDMA device a network interface"
            )
        elsewhere = [name for name, link in there.items() if link["netdev"] == netdev and name != device]
        if device in there:
            link = there[device]
            if link["netdev"] and link["netdev"] != netdev:
                found.append(
                    f"{host}: RDMA device {device} belongs to {link['netdev']}, the inventory says {netdev}. "
                    f"Remedy: correct longhaul_attachments"
                )
            elif link["state"] and "ACTIVE" not in link["state"]:
                found.append(
                    f"{host}: RDMA device {device} is {link['state']}. Remedy: bring its port and interface up"
                )
        elif provider not in SOFTWARE:
            found.append(
                f"{host}: RDMA device {device} ({provider or 'no provider given'}) is not there; it has "
                f"{_names(there)}. Remedy: load its driver, or name the device that `rdma link` shows"
            )
        elif elsewhere:
            found.append(
                f"{host}: {netdev} carries another RDMA device already: {_names(elsewhere)}. "
                f"Remedy: rdma link delete {elsewhere[0]}, or name that one in longhaul_attachments"
            )
        elif provider == "rxe" and facts.get("modules", {}).get("rdma_rxe") == "absent":
            found.append(
                f"{host}: its kernel {facts['kernel']} has no module rdma_rxe. Remedy: install linux-image-amd64 "
                f"(Debian's cloud kernel is built without it) and reboot"
            )
    return found


def certificate_due(certificates, role, name, days, now=None):
    """Whether `longhaul pki issue` is needed: none there, revoked, expired, or within `days` of it. Those that were
    replaced are listed, too, and do not matter."""
    limit = (now or datetime.datetime.now(datetime.timezone.utc)) + datetime.timedelta(days=int(days))
    for one in certificates:
        if one["role"] == role and one["name"] == name and one.get("current", True):
            expires = datetime.datetime.strptime(one["expires"], "%Y-%m-%dT%H:%M:%S%z")
            return one["state"] != "valid" or expires < limit
    return True


def clock_problem(host, hostvars):
    """Empty when the kernel's clock is kept in step."""
    clock = _facts(hostvars, host).get("clock") or {}
    if not clock or clock["synchronised"]:
        return ""
    if clock["service"]:
        return (
            f"{host}: its clock is not synchronised; {clock['service']} runs, but has not set it yet. "
            f"Remedy: wait a minute, or see why it reaches no server (chronyc sources, timedatectl timesync-status)"
        )
    return (
        f"{host}: its clock is not synchronised and no time service runs. Remedy: apt install chrony, or "
        f"longhaul_require_clock_sync: false (one-way figures are then refused or marked)"
    )


def _node_problems(host, hostvars, groups, require_clock):
    facts = _facts(hostvars, host)
    if not facts:
        return [f"{host}: cannot be reached. Remedy: ansible_host, ssh, and is the machine up?"]
    port = hostvars[host].get("longhaul_port", 7471)
    found = interface_problems(host, hostvars) + rdma_problems(host, hostvars)
    clock = clock_problem(host, hostvars)
    if clock and require_clock:
        found.append(clock)
    if not facts["network_script"]:
        found.append(f"{host}: it was not set up. Remedy: apply site")
    drift = hostvars[host].get("verify_network", {}).get("stdout_lines", [])
    found += [f"{host}: {one}. Remedy: apply site again" for one in drift]
    if facts["listener"].get("program") != "longhaul-agent":
        other = f"{facts['listener']['program']} listens there" if facts["listener"] else "nobody listens there"
        found.append(f"{host}: no agent on TCP port {port}: {other}. Remedy: systemctl status longhaul-agent; apply site again")
    if host in groups.get("routers", []):
        degen = hostvars[host].get("verify_degen", {})
        if degen.get("rc") != 0:
            said = degen.get("stderr") or degen.get("msg") or "no answer"
            found.append(f"{host}: degen does not answer: {said}. Remedy: systemctl status degen; apply site again")
    return found


def verdict(hostvars, groups, require_clock=True):
    """What verify has found, over all nodes: lines for people, and problems (none: the testbed is fit for use)."""
    lines, problems = [], []
    # With --limit the others were not asked.
    hosts = [host for host in _members(groups, "clients", "servers", "routers") if "verify_look" in hostvars[host]]
    for host in hosts:
        wrong = _node_problems(host, hostvars, groups, require_clock)
        problems += wrong
        facts = _facts(hostvars, host)
        clock = facts.get("clock", {})
        lines.append(
            f"{host}: {f'NOT ok ({len(wrong)})' if wrong else 'ok'}"
            + (f", kernel {facts['kernel']}" if facts else "")
            + (f", clock {'' if clock['synchronised'] else 'NOT '}synchronised" if clock else "")
        )
        degen = hostvars[host].get("verify_degen", {})
        if degen.get("rc") == 0 and json.loads(degen["stdout"]).get("impaired"):
            lines.append(f"{host}: an impairment is applied; the round trips below include it")
    for host in hosts:
        for path in hostvars[host].get("longhaul_paths", []):
            problems += path["problems"]
            if host in groups.get("clients", []) or path["problems"]:
                kind = " ".join(word for word in (path["path"], path["provider"]) if word)
                rtt = "no answer" if path["rtt_us"] is None else f"round trip {path['rtt_us'] / 1000:.3f} ms"
                rdma = {None: "", True: ", RDMA ok", False: ", NO RDMA"}[path["rdma"]]
                lines.append(
                    f"{host} -> {path['peer']} ({kind}): {'NOT ok' if path['problems'] else 'ok'}, {rtt}, "
                    f"MTU {path['mtu']}{rdma}"
                )
    reached = [host for host in hosts if host in groups.get("clients", []) and _facts(hostvars, host)]
    if reached and not any(hostvars[host].get("longhaul_paths") for host in reached):
        problems.append("no path was tried. Remedy: clients and servers with attachments of the same path and provider")
    return {"lines": lines, "problems": problems}


class FilterModule:
    def filters(self):
        return {
            "pairs": pairs,
            "nfs_mounts": nfs_mounts,
            "nfs_clients": nfs_clients,
            "interface_problems": interface_problems,
            "mtu_problems": mtu_problems,
            "rdma_problems": rdma_problems,
            "certificate_due": certificate_due,
            "clock_problem": clock_problem,
            "control_address": control_address,
            "control_problem": control_problem,
            "port_problem": port_problem,
            "firewall_problem": firewall_problem,
            "firewall_holes": firewall_holes,
            "verdict": verdict,
        }
