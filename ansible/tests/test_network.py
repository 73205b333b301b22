"""The network script against a kernel of files: makes what is missing once, repairs drift, takes away its own only."""

import os
import shutil
import unittest

from script_case import ScriptCase


def attachment(netdev, address, device, gateway):
    provider = device.split("_")[0]
    return {"path": "wan", "netdev": netdev, "address": address, "device": device, "provider": provider, "gateway": gateway}


HOSTVARS = {
    "c1": {"longhaul_attachments": [attachment("a0", "10.10.0.1", "rxe_a0", "10.10.0.254")]},
    "s1": {"longhaul_attachments": [attachment("b0", "10.20.0.1", "rxe_b0", "10.20.0.254")]},
    "r1": {"longhaul_links": [{"client_side": "ra0", "server_side": "rb0"}]},
}
GROUPS = {"clients": ["c1"], "servers": ["s1"], "routers": ["r1"]}
SYSCTLS = {
    "net.core.rmem_max": "212992",
    "net.ipv4.tcp_rmem": "4096 131072 6291456",
    "net.ipv4.ip_forward": "0",
    "net.ipv6.conf.all.forwarding": "0",
}


class NetworkScript(ScriptCase):
    name = "network"
    fakes = ["ip", "rdma", "ethtool", "sysctl", "modprobe", "chrt", "systemctl", "nft", "ufw", "firewall-cmd", "firewall-offline-cmd", "udevadm"]
    folders = ["var/lib", "etc/sysctl.d", "sys/module", "sys/class/infiniband", "proc/7"]
    moved = ["/sys/", "/proc/", "/run/", "/var/lib/", "/etc/", "/dev/infiniband"]

    def setUp(self):
        super().setUp()
        for netdev, address in [("a0", "10.10.0.1"), ("ra0", "10.10.0.254"), ("rb0", "10.20.0.254")]:
            self.write(f"address-{netdev}", f"2: {netdev}    inet {address}/24 scope global {netdev}")
            self.write(
                f"offloads-{netdev}",
                "tcp-segmentation-offload: on\ngeneric-segmentation-offload: on\n"
                "generic-receive-offload: on\nlarge-receive-offload: off [fixed]",
            )
        self.write("sysctl", "\n".join(f"{key}={value}" for key, value in SYSCTLS.items()))
        self.write("proc/7/comm", "ksoftirqd/0")
        self.write("proc/7/stat", " ".join(["7", "(ksoftirqd/0)"] + ["0"] * 50))
        self.write("system", "running")
        self.render("c1")

    def render(self, host, **changes):
        variables = {
            "inventory_hostname": host,
            "hostvars": HOSTVARS,
            "groups": GROUPS,
            "longhaul_attachments": HOSTVARS[host].get("longhaul_attachments", []),
            "longhaul_links": HOSTVARS[host].get("longhaul_links", []),
            "longhaul_port": 7471,
            "longhaul_firewall": "auto",
            "longhaul_controllers": [],
            "network_end_sysctls": {"net.core.rmem_max": "67108864", "net.ipv4.tcp_rmem": "4096 131072 67108864"},
            "network_router_sysctls": {"net.ipv4.ip_forward": "1"},
            "network_forwards_ipv6": False,
            "network_offloads_off": ["tso", "gso", "gro", "lro"],
            "network_threads_first": host != "r1",
            **changes,
        }
        self.render_with(variables)

    def state(self):
        files = ["sysctl", "offloads-a0", "links", "routes", "proc/7/stat", "etc/sysctl.d/90-longhaul.conf"]
        return {file: self.read(file) for file in files} | {"modules": sorted(os.listdir(self.root / "sys/module"))}

    def test_makes_what_is_missing_once_and_takes_it_away(self):
        before = self.state()
        self.assertIn("missing: link rxe_a0 rxe a0", self.run_script("check", 1))
        self.assertEqual(self.state(), before)
        made = self.run_script("up")
        self.assertIn("made: link rxe_a0 rxe a0", made)
        self.assertIn("made: route 10.20.0.1 10.10.0.254 a0 10.10.0.1", made)
        self.assertNotIn("made: offload a0 lro", made)
        self.assertIn("net.ipv4.tcp_rmem=4096 131072 67108864", self.read("sysctl"))
        self.assertIn("net.core.rmem_max = 67108864", self.read("etc/sysctl.d/90-longhaul.conf"))
        self.assertIn("tcp-segmentation-offload: off", self.read("offloads-a0"))
        self.assertEqual(self.read("proc/7/stat").split()[40], "1")
        self.assertEqual(self.run_script("up"), [])
        self.assertEqual(self.run_script("check"), [])
        self.run_script("down")
        after = self.state()
        self.assertEqual({**before, "links": "", "routes": ""}, {k: v.strip("\n") if k in ("links", "routes") else v for k, v in after.items()})
        self.assertEqual(self.run_script("down"), [])

    def test_repairs_drift_and_remembers_the_first_values(self):
        self.run_script("up")
        self.write("routes", "")
        self.write("sysctl", self.read("sysctl").replace("rmem_max=67108864", "rmem_max=5").strip())
        self.assertEqual(
            sorted(self.run_script("up")),
            ["made: route 10.20.0.1 10.10.0.254 a0 10.10.0.1", "made: sysctl net.core.rmem_max 67108864"],
        )
        self.run_script("down")
        self.assertIn("net.core.rmem_max=212992", self.read("sysctl"))

    def test_a_reboot_keeps_the_former_sysctls_and_forgets_the_rest(self):
        self.run_script("up")
        shutil.rmtree(self.root / "run")
        (self.root / "run").mkdir()
        shutil.rmtree(self.root / "sys/class/infiniband/rxe_a0")
        self.write("links", "")
        self.write("routes", "10.20.0.1 via 10.10.0.9 dev a0 proto static src 10.10.0.1 ")
        self.run_script("up", 1)
        self.assertIn("there is another route to 10.20.0.1: 10.20.0.1 via 10.10.0.9", self.errors)
        self.run_script("down")
        self.assertIn("via 10.10.0.9", self.read("routes"))
        self.assertIn("net.core.rmem_max=212992", self.read("sysctl"))

    def test_what_is_no_longer_wanted_is_undone(self):
        self.run_script("up")
        self.render("c1", network_offloads_off=[], longhaul_attachments=[])
        undone = self.run_script("up")
        self.assertIn("undone: link rxe_a0 rxe a0", undone)
        self.assertIn("tcp-segmentation-offload: on", self.read("offloads-a0"))

    def test_leaves_a_link_of_others_and_says_so(self):
        os.makedirs(self.root / "sys/class/infiniband/rxe0")
        self.write("links", "link rxe0/1 state ACTIVE physical_state LINK_UP netdev a0 netdev_index 2")
        self.run_script("up", 1)
        self.assertIn("c1: a0 carries another RDMA device already: rxe0. Remedy: rdma link delete rxe0", self.errors)
        self.run_script("down")
        self.assertIn("rxe0", self.read("links"))

    def test_a_failure_names_host_and_remedy_and_is_not_remembered(self):
        self.write("refuse-link", "")
        self.write("no-modules", "rdma_rxe")
        self.write("address-a0", "")
        self.run_script("up", 1)
        self.assertIn("c1: network interface a0 with the address 10.10.0.1 is not there", self.errors)
        self.assertIn("c1: modprobe rdma_rxe failed", self.errors)
        self.assertIn("c1: rdma link add rxe_a0 type rxe netdev a0 failed", self.errors)
        self.assertNotIn("link", self.read("run/longhaul-network/made"))

    def test_nothing_is_undone_at_shutdown(self):
        self.run_script("up")
        self.write("system", "stopping")
        before = self.state()
        self.assertEqual(self.run_script("down"), [])
        self.assertEqual(self.state(), before)

    def test_a_router_behind_nftables(self):
        self.write("active", "nftables")
        self.render("r1", longhaul_controllers=["192.0.2.7"])
        made = self.run_script("up")
        self.assertIn("made: accept tcp 7471 192.0.2.7", made)
        self.assertIn(
            'ip saddr 192.0.2.7 tcp dport 7471 accept comment "longhaul tcp 7471 192.0.2.7"', self.read("nft-inet-filter-input")
        )
        self.assertIn('iifname "ra0" oifname "rb0" accept', self.read("nft-inet-filter-forward"))
        self.assertEqual(self.read("nft-inet-longhaul_degen-forward") + self.read("nft-ip-filter-INPUT"), "")
        self.assertEqual(self.run_script("up"), [])
        self.run_script("down")
        self.assertEqual(self.read("nft-inet-filter-input") + self.read("nft-inet-filter-forward"), "")

    def test_an_end_behind_ufw(self):
        self.write("ufw", "ufw allow 22/tcp")
        self.render("c1", longhaul_controllers=["192.0.2.7"])
        self.assertIn("made: accept peer a0 10.20.0.1 tcp 32768-60999", self.run_script("up"))
        rules = self.read("ufw")
        self.assertIn("ufw allow proto tcp from 192.0.2.7 to any port 7471 comment 'longhaul tcp 7471 192.0.2.7'", rules)
        self.assertIn("ufw allow in on a0 proto tcp from 10.20.0.1 to any port 32768:60999 comment", rules)
        self.assertEqual(self.run_script("up"), [])
        self.run_script("down")
        self.assertEqual(self.read("ufw"), "ufw allow 22/tcp\n")

    def test_an_end_behind_firewalld(self):
        self.write("active", "firewalld")
        self.write("zone-dmz", "a0")
        self.write("zone-dmz-permanent", "a0")
        self.render("c1", longhaul_controllers=["192.0.2.7"])
        self.assertIn("made: accept tcp 7471 192.0.2.7", self.run_script("up"))
        for zone in ["zone-public", "zone-public-permanent"]:
            self.assertEqual(
                self.read(zone), 'rule family="ipv4" source address="192.0.2.7" port port="7471" protocol="tcp" accept\n'
            )
        self.assertIn('rule family="ipv4" source address="10.20.0.1" protocol value="icmp" accept', self.read("zone-dmz"))
        self.assertIn('port port="32768-60999" protocol="tcp" accept', self.read("zone-dmz-permanent"))
        self.assertEqual(self.run_script("up"), [])
        # Gone at run time alone, as after a rule that somebody removed: it is made again.
        self.write("zone-public", "")
        self.assertEqual(self.run_script("up"), ["made: accept tcp 7471 192.0.2.7"])
        self.run_script("down")
        for zone in ["zone-public", "zone-public-permanent", "zone-dmz", "zone-dmz-permanent"]:
            self.assertEqual(self.read(zone), "a0\n" if "dmz" in zone else "")

    def behind_firewalld(self, *zones):
        """A router, with what firewalld says of its interfaces."""
        self.write("active", "firewalld")
        for zone, netdevs in zones:
            self.write("zone-" + zone, netdevs)
            self.write(f"zone-{zone}-permanent", netdevs)
        self.render("r1")

    def test_firewalld_forwards_to_an_interface_that_is_named(self):
        # It forwards nothing to one that is in the default zone because it is in no other.
        self.behind_firewalld(("public", "mgmt\nrb0"))
        self.assertIn("made: accept forward ra0 rb0", self.run_script("up"))
        self.assertEqual(self.read("zone-public"), "mgmt\nrb0\nra0\n")
        self.assertEqual(self.run_script("up") + self.run_script("check"), [])
        self.run_script("down")
        self.assertEqual(self.read("zone-public") + self.read("zone-public-permanent"), 2 * "mgmt\nrb0\n")

    def test_another_firewall_than_before(self):
        self.behind_firewalld(("public", "mgmt"))
        self.render("r1", longhaul_controllers=["192.0.2.7"])
        self.run_script("up")
        self.write("active", "")
        self.assertEqual(self.run_script("up"), [])
        self.assertIn("7471", self.read("zone-public-permanent"))
        self.write("active", "nftables")
        said = self.run_script("up")
        self.assertIn("undone: accept tcp 7471 192.0.2.7", said)
        self.assertIn("made: accept tcp 7471 192.0.2.7", said)
        # It does not run: what it has for good is what it will have when it does.
        self.assertEqual(self.read("zone-public-permanent"), "mgmt\n")
        self.assertIn("7471", self.read("nft-inet-filter-input"))
        self.run_script("down")
        self.assertEqual(self.read("nft-inet-filter-input") + self.read("nft-inet-filter-forward"), "")

    def test_firewalld_that_forwards_nothing_is_told(self):
        self.behind_firewalld(("public", "ra0"), ("dmz", "rb0"))
        self.run_script("up", 1)
        self.assertIn("r1: firewalld forwards nothing from ra0 (zone public) to rb0 (zone dmz). Remedy: ", self.errors)
        self.write(
            "policies",
            "allow-host-ipv6 (active)\n  ingress-zones: ANY\n  egress-zones: HOST\n\n"
            "mine (active)\n  ingress-zones: public dmz\n  egress-zones: dmz public\n",
        )
        self.assertEqual(self.run_script("up"), [])
        self.write("policies", self.read("policies").replace("mine (active)", "mine").strip())
        self.run_script("check", 1)

    def test_a_zone_that_does_not_forward_is_told(self):
        self.behind_firewalld(("public", "ra0\nrb0"))
        self.write("no-forward", "")
        self.run_script("up", 1)
        self.assertIn("from ra0 (zone public) to rb0 (zone public). Remedy: firewall-cmd --permanent --zone=public --add-forward", self.errors)
        # Nor are interfaces left there that were put there in vain.
        self.write("zone-public", "")
        self.write("zone-public-permanent", "")
        self.run_script("up", 1)
        self.assertIn("from ra0 (zone public) to rb0 (zone public)", self.errors)
        self.assertEqual(self.read("zone-public") + self.read("zone-public-permanent"), "")

    def test_nobody_named_is_nobody_let_in(self):
        self.write("active", "nftables")
        self.render("r1")
        self.run_script("up")
        self.assertNotIn("7471", self.read("nft-inet-filter-input"))

    def test_the_other_end_is_let_in_by_the_ports_that_are_used(self):
        self.write("active", "nftables")
        self.write("address-b0", "2: b0    inet 10.20.0.1/24 scope global b0")
        self.write("offloads-b0", "")
        self.render("s1", longhaul_attachments=[])
        self.run_script("up")
        rules = self.read("nft-inet-filter-input").splitlines()
        self.assertEqual(len(rules), 7)
        for rule in rules:
            self.assertTrue(rule.startswith('iifname "b0" ip saddr 10.10.0.1 '), rule)
        text = "\n".join(rules)
        for match in ["meta l4proto icmp accept", "udp dport 7473", "udp dport 4791", "tcp dport 32768-60999", "tcp dport 2049"]:
            self.assertIn("ip saddr 10.10.0.1 " + match, text)

    def test_what_an_earlier_version_let_in_is_closed(self):
        self.write("active", "nftables")
        self.write("nft-inet-filter-input", 'iifname "a0" ip saddr 10.20.0.1 accept comment "longhaul peer a0 10.20.0.1" # handle 3')
        (self.root / "var/lib/longhaul-testbed").mkdir()
        self.write("var/lib/longhaul-testbed/network", "accept peer a0 10.20.0.1\tnft")
        self.assertIn("undone: accept peer a0 10.20.0.1", self.run_script("up"))
        self.assertNotIn("10.20.0.1 accept", self.read("nft-inet-filter-input"))

    def forwarded(self):
        return [line for line in self.read("nft-own").splitlines() if "accept" in line or "drop" in line][1:]

    def test_a_router_forwards_between_its_measured_interfaces_alone(self):
        self.render("r1")
        self.assertIn("made: forwards ra0/rb0", self.run_script("up"))
        self.assertEqual(
            self.forwarded(),
            [
                'iifname "ra0" oifname "rb0" accept',
                'iifname "rb0" oifname "ra0" accept',
                'iifname "ra0" drop',
                'oifname "ra0" drop',
                'iifname "rb0" drop',
                'oifname "rb0" drop',
                "meta nfproto ipv4 drop",
                "meta nfproto ipv6 drop",
            ],
        )
        # Before that it does not forward: neither in the order of things, nor at boot.
        made = self.read("run/longhaul-network/made") + self.read("var/lib/longhaul-testbed/network")
        self.assertLess(made.index("forwards"), made.index("ip_forward"))
        self.assertNotIn("forward", self.read("etc/sysctl.d/90-longhaul.conf").replace("forwards", ""))
        self.assertIn("net.ipv4.ip_forward=1", self.read("sysctl"))
        self.assertEqual(self.run_script("up") + self.run_script("check"), [])
        self.write("nft-own", self.read("nft-own").replace('oifname "ra0" drop\n', "").strip())
        self.assertEqual(self.run_script("check", 1), ["missing: forwards ra0/rb0"])
        self.assertEqual(self.run_script("up"), ["made: forwards ra0/rb0"])
        self.run_script("down")
        self.assertEqual(self.read("nft-own"), "")
        self.assertIn("net.ipv4.ip_forward=0", self.read("sysctl"))

    def test_a_router_that_forwarded_before_goes_on_elsewhere(self):
        self.write("sysctl", "\n".join(f"{key}={value}" for key, value in {**SYSCTLS, "net.ipv4.ip_forward": "1"}.items()))
        self.render("r1")
        self.run_script("up")
        self.assertNotIn("meta nfproto ipv4 drop", self.forwarded())
        self.assertIn("meta nfproto ipv6 drop", self.forwarded())
        self.assertEqual(self.run_script("check"), [])

    def test_a_kernel_without_nftables_is_told(self):
        self.write("refuse-nft", "")
        self.render("r1")
        self.run_script("up", 1)
        self.assertIn("r1: what it forwards cannot be limited to ra0/rb0. Remedy: is nftables installed", self.errors)


if __name__ == "__main__":
    unittest.main()
