"""What the roles decide, and what path_facts makes of the output of ip and ping."""

import datetime
import importlib.util
import json
import pathlib
import unittest

ANSIBLE = pathlib.Path(__file__).resolve().parent.parent


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


testbed = load(ANSIBLE / "plugins/filter/testbed.py")
path_facts = load(ANSIBLE / "plugins/modules/path_facts.py")

GROUPS = {"clients": ["c1"], "servers": ["s1", "s2"], "routers": ["r1"]}


def nic(address, mtu=1500, up=True):
    return {"mtu": mtu, "up": up, "addresses": [address]}


def node(interfaces, **more):
    facts = {
        "kernel": "6.1.0-1-amd64",
        "interfaces": interfaces,
        "modules": {"rdma_rxe": "available", "siw": "absent"},
        "rdma": {},
        "clock": {"synchronised": True, "service": "chrony"},
        "listener": {"program": "longhaul-agent", "pid": 7},
        "network_script": True,
    }
    return {**facts, **more}


def hostvars():
    def wan(netdev, address, **more):
        return {"path": "wan", "netdev": netdev, "address": address, **more}

    return {
        "c1": {
            "longhaul_attachments": [
                wan("a0", "10.1.0.1", device="rxe_a0", provider="rxe", gateway="10.1.0.254"),
                wan("a1", "10.2.0.1"),
            ],
            "longhaul_node": node({"a0": nic("10.1.0.1"), "a1": nic("10.2.0.1")}),
        },
        "s1": {
            "longhaul_attachments": [wan("b0", "10.3.0.1", device="rxe_b0", provider="rxe")],
            "longhaul_node": node({"b0": nic("10.3.0.1")}),
        },
        "s2": {
            "longhaul_attachments": [wan("b0", "10.3.0.2", device="rxe_b0", provider="rxe"), wan("b1", "10.4.0.2")],
            "longhaul_node": node({"b0": nic("10.3.0.2"), "b1": nic("10.4.0.2")}),
        },
        "r1": {
            "longhaul_links": [{"client_side": "ra", "server_side": "rb"}],
            "longhaul_node": node({"ra": nic("10.1.0.254"), "rb": nic("10.3.0.254")}),
        },
    }


class Pairs(unittest.TestCase):
    def test_each_attachment_meets_those_of_its_path_and_provider(self):
        found = [(p["address"], p["peer"], p["peer_address"]) for p in testbed.pairs("c1", hostvars(), GROUPS)]
        self.assertEqual(
            found, [("10.1.0.1", "s1", "10.3.0.1"), ("10.1.0.1", "s2", "10.3.0.2"), ("10.2.0.1", "s2", "10.4.0.2")]
        )
        self.assertEqual([p["peer"] for p in testbed.pairs("s1", hostvars(), GROUPS)], ["c1"])
        self.assertEqual(testbed.pairs("r1", hostvars(), GROUPS), [])


class Problems(unittest.TestCase):
    def test_a_sound_testbed_has_none(self):
        for host in hostvars():
            self.assertEqual(testbed.interface_problems(host, hostvars()), [])
            self.assertEqual(testbed.mtu_problems(host, hostvars(), GROUPS), [])
            self.assertEqual(testbed.rdma_problems(host, hostvars()), [])

    def test_interfaces(self):
        v = hostvars()
        v["c1"]["longhaul_node"]["interfaces"] = {"a1": nic("10.9.0.1")}
        first, second = testbed.interface_problems("c1", v)
        self.assertIn("c1: network interface a0 (path wan) is not there; it has a1. Remedy", first)
        self.assertIn("c1: a1 has not the address 10.2.0.1 but 10.9.0.1", second)
        v["r1"]["longhaul_node"]["interfaces"].pop("rb")
        self.assertIn("r1: network interface rb (server_side) is not there; it has ra", testbed.interface_problems("r1", v)[0])

    def test_nothing_is_said_of_a_node_that_was_not_seen(self):
        v = hostvars()
        del v["s1"]["longhaul_node"]
        v["c1"]["longhaul_node"]["interfaces"] = None
        self.assertEqual(testbed.interface_problems("c1", v) + testbed.mtu_problems("r1", v, GROUPS), [])

    def test_mtus_are_told_to_whom_it_concerns(self):
        v = hostvars()
        v["s2"]["longhaul_node"]["interfaces"]["b0"]["mtu"] = 9000
        problem = testbed.mtu_problems("c1", v, GROUPS)[0]
        self.assertIn("path wan differ: 1500 on c1 a0, c1 a1, s1 b0, s2 b1, r1 ra, r1 rb; 9000 on s2 b0", problem)
        v["s2"]["longhaul_attachments"][0]["path"] = "lan"
        self.assertEqual(testbed.mtu_problems("c1", v, GROUPS), [])

    def test_rdma(self):
        v = hostvars()
        v["c1"]["longhaul_node"]["modules"]["rdma_rxe"] = "absent"
        self.assertIn("has no module rdma_rxe. Remedy: install linux-image-amd64", testbed.rdma_problems("c1", v)[0])
        v["c1"]["longhaul_node"]["rdma"] = {"rxe0": {"netdev": "a0", "state": "ACTIVE"}}
        self.assertIn("a0 carries another RDMA device already: rxe0", testbed.rdma_problems("c1", v)[0])
        v["c1"]["longhaul_attachments"][0].update(device="mlx5_0", provider="mlx5")
        self.assertIn("RDMA device mlx5_0 (mlx5) is not there; it has rxe0", testbed.rdma_problems("c1", v)[0])
        v["c1"]["longhaul_node"]["rdma"] = {"mlx5_0": {"netdev": "a0", "state": "DOWN"}}
        self.assertIn("RDMA device mlx5_0 is DOWN", testbed.rdma_problems("c1", v)[0])
        v["c1"]["longhaul_attachments"][1].update(netdev="a0", device="siw_a0", provider="siw")
        self.assertIn("one RDMA device a network interface", testbed.rdma_problems("c1", v)[1])


class ControlAddress(unittest.TestCase):
    def setUp(self):
        self.v = hostvars()
        self.v["c1"]["longhaul_node"]["interfaces"].update(mgmt=nic("192.0.2.11"), lo=nic("127.0.0.1"))

    def address(self, **variables):
        self.v["c1"].update(variables)
        return testbed.control_address("c1", self.v)

    def test_it_is_the_one_by_which_the_controller_comes(self):
        self.assertEqual(self.address(ansible_host="192.0.2.11"), "192.0.2.11")
        self.assertEqual(testbed.control_problem("c1", self.v), "")

    def test_a_name_or_a_translated_address_is_where_ssh_came_in(self):
        self.v["c1"]["longhaul_node"]["came_in"] = "192.0.2.11"
        for way in ["node1.example", "198.51.100.7", "127.0.0.1"]:
            self.assertEqual(self.address(ansible_host=way), "192.0.2.11", way)
        self.assertEqual(self.address(ansible_host="127.0.0.1", ansible_connection="local"), "127.0.0.1")

    def test_it_is_never_guessed(self):
        for came_in in ["", "198.51.100.7"]:
            self.v["c1"]["longhaul_node"]["came_in"] = came_in
            self.assertEqual(self.address(ansible_host="node1.example"), "")
            problem = testbed.control_problem("c1", self.v)
            self.assertIn("c1: nobody knows at which address its agent should listen: ansible_host (node1.example)", problem)
            self.assertIn("Remedy: longhaul_listen: ADDRESS in the inventory, of the control network; it has 10.1.0.1, ", problem)
            self.assertNotIn("127.0.0.1", problem)

    def test_the_inventory_may_say_it(self):
        for good in ["192.0.2.11", "0.0.0.0", "::"]:
            self.assertEqual(self.address(longhaul_listen=good), good)
            self.assertEqual(testbed.control_problem("c1", self.v), "")
        for bad in ["198.51.100.7", "node1.example"]:
            self.address(longhaul_listen=bad)
            self.assertIn(f"longhaul_listen ({bad}) is no address of this node", testbed.control_problem("c1", self.v))

    def test_nothing_is_said_before_there_is_ip(self):
        self.v["c1"]["longhaul_node"]["interfaces"] = None
        self.assertEqual(self.address(ansible_host="192.0.2.11"), "192.0.2.11")
        self.assertEqual(self.address(ansible_host="node1.example"), "")
        self.assertEqual(testbed.control_problem("c1", self.v), "")


class Port(unittest.TestCase):
    def problem(self, listener):
        v = hostvars()
        v["c1"]["longhaul_node"]["listener"] = listener
        return testbed.port_problem("c1", v, 7499)

    def test_another_program_on_the_agents_port_is_named(self):
        self.assertEqual(self.problem({}), "")
        self.assertEqual(self.problem({"program": "longhaul-agent", "pid": 7}), "")
        self.assertEqual(
            self.problem({"program": "nginx", "pid": 12}),
            "c1: TCP port 7499 is taken by nginx (pid 12). Remedy: stop that, or choose another longhaul_port in the inventory",
        )
        self.assertIn("is taken by unknown (pid unknown)", self.problem({"program": "unknown", "pid": 0}))


class Firewall(unittest.TestCase):
    def problem(self, running, firewall="auto", controllers=()):
        v = hostvars()
        v["c1"]["longhaul_node"]["firewall"] = running
        return testbed.firewall_problem("c1", v, firewall, controllers)

    def test_an_empty_list_is_refused_where_a_firewall_runs(self):
        problem = self.problem("ufw")
        self.assertIn("c1: ufw runs there, and longhaul_controllers does not say who may reach the agent", problem)
        self.assertIn("Remedy: longhaul_controllers: [ADDRESS or NETWORK of the controllers]", problem)
        self.assertEqual(self.problem(""), "")
        self.assertEqual(self.problem("ufw", "none"), "")
        self.assertEqual(self.problem("ufw", "auto", ["192.0.2.10", "fd00::/64", "192.0.2.1/24"]), "")
        for bad in ["any", "controller.example", "192.0.2.0/99", "192.0.2.1 accept"]:
            self.assertIn(f"longhaul_controllers: {bad} is no address", self.problem("ufw", "auto", [bad]))

    def test_holes(self):
        self.assertEqual(
            testbed.firewall_holes("r1", hostvars(), GROUPS, 7471, ["192.0.2.10"]),
            ["tcp 7471 192.0.2.10", "forward ra rb", "forward rb ra"],
        )
        client = testbed.firewall_holes("c1", hostvars(), GROUPS)
        self.assertEqual(
            [hole for hole in client if " 10.3.0.1 " in hole],
            [f"peer a0 10.3.0.1 {hole}" for hole in ["icmp", "udp 7473", "tcp 32768-60999", "udp 4791"]],
        )
        self.assertIn("peer a1 10.4.0.2 tcp 32768-60999", client)
        self.assertNotIn("peer a1 10.4.0.2 udp 4791", client)
        v = hostvars()
        for host in ("c1", "s1"):
            v[host]["longhaul_attachments"][0].update(provider="siw")
        v["c1"]["longhaul_attachments"][0]["address"] = "fd00::1"
        v["s1"]["longhaul_node"]["local_ports"] = [20000, 30000]
        self.assertEqual(
            testbed.firewall_holes("s1", v, GROUPS),
            [
                f"peer b0 fd00::1 {hole}"
                for hole in ["ipv6-icmp", "udp 7473", "tcp 20000-30000", "tcp 111", "tcp 2049", "tcp 20048", "tcp 20049", "tcp 7474"]
            ],
        )

    def test_the_port_of_verify_is_the_one_that_it_uses(self):
        self.assertEqual(testbed.RPING_PORT, path_facts.RPING_PORT)
        self.assertIn(f"-p {testbed.RPING_PORT}", (ANSIBLE / "roles/verify/files/listeners").read_text())


class Certificates(unittest.TestCase):
    def test_due(self):
        now = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)

        def due(state, expires):
            issued = [{"role": "agent", "name": "c1", "state": state, "expires": expires}]
            return testbed.certificate_due(issued, "agent", "c1", 30, now)

        self.assertFalse(due("valid", "2026-02-01T00:00:00Z"))
        self.assertTrue(due("valid", "2026-01-30T00:00:00Z"))
        self.assertTrue(due("revoked", "2027-01-01T00:00:00Z"))
        self.assertTrue(testbed.certificate_due([], "agent", "c1", 30, now))

    def test_what_was_replaced_does_not_matter(self):
        now = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
        one = {"role": "agent", "name": "c1", "state": "valid", "expires": "2027-01-01T00:00:00Z", "current": True}
        former = {**one, "state": "revoked", "current": False}
        for issued in ([one, former], [former, one]):
            self.assertFalse(testbed.certificate_due(issued, "agent", "c1", 30, now))
        self.assertTrue(testbed.certificate_due([{**one, "current": False}], "agent", "c1", 30, now))


class Verdict(unittest.TestCase):
    def test_a_line_for_each_and_all_problems(self):
        v = {host: {**variables, "verify_look": {}} for host, variables in hostvars().items()}
        v["r1"]["verify_degen"] = {"rc": 0, "stdout": json.dumps({"impaired": True})}
        path = {"path": "wan", "provider": "rxe", "peer": "s1", "rtt_us": 412, "mtu": 1500, "rdma": True, "problems": []}
        v["c1"]["longhaul_paths"] = [path]
        found = testbed.verdict(v, GROUPS)
        self.assertEqual(found["problems"], [])
        self.assertIn("c1 -> s1 (wan rxe): ok, round trip 0.412 ms, MTU 1500, RDMA ok", found["lines"])
        self.assertTrue(any("an impairment is applied" in line for line in found["lines"]))

        del v["s2"]["longhaul_node"]
        v["s1"]["longhaul_node"].update(listener={}, clock={"synchronised": False, "service": ""})
        v["r1"]["verify_degen"] = {"rc": 1, "stderr": "no degen service"}
        v["c1"]["verify_network"] = {"stdout_lines": ["missing: route 10.3.0.1"]}
        text = "\n".join(testbed.verdict(v, GROUPS)["problems"])
        for expected in [
            "s2: cannot be reached",
            "s1: no agent on TCP port 7471: nobody listens there",
            "s1: its clock is not synchronised and no time service runs",
            "r1: degen does not answer: no degen service",
            "c1: missing: route 10.3.0.1. Remedy: apply site again",
        ]:
            self.assertIn(expected, text)
        self.assertNotIn("clock", "\n".join(testbed.verdict(v, GROUPS, False)["problems"]))


class Paths(unittest.TestCase):
    def test_round_trip_is_the_median(self):
        output = "".join(f"64 bytes from 10.3.0.1: icmp_seq={i} ttl=63 time={t} ms\n" for i, t in enumerate([0.5, 9.1, 0.3]))
        self.assertEqual(path_facts.round_trip(output), 500)
        self.assertIsNone(path_facts.round_trip("5 packets transmitted, 0 received"))

    def test_routes(self):
        pair = {"netdev": "a0", "gateway": "10.1.0.254"}
        self.assertIsNone(path_facts.route_problem(pair, '[{"dst":"10.3.0.1","gateway":"10.1.0.254","dev":"a0"}]'))
        self.assertIn("by mgmt, not by a0", path_facts.route_problem(pair, '[{"gateway":"10.9.0.1","dev":"mgmt"}]'))
        self.assertIn("over 10.1.0.9, not", path_facts.route_problem(pair, '[{"gateway":"10.1.0.9","dev":"a0"}]'))
        self.assertIn("there is no route", path_facts.route_problem(pair, "RTNETLINK answers: Network is unreachable"))


if __name__ == "__main__":
    unittest.main()
