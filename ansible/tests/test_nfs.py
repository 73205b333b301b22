"""The nfs script against a kernel of files: exports and mounts once, repairs, takes away its own only."""

import os
import unittest

from script_case import ScriptCase, filters


def hostvars(**server):
    def end(address, **more):
        return {"path": "wan", "netdev": "n0", "address": address, **more}

    return {
        "c1": {"longhaul_attachments": [end("10.1.0.1", device="rxe_a0", provider="rxe"), end("10.2.0.1")]},
        "s1": {"longhaul_attachments": [end("10.3.0.1", device="rxe_b0", provider="rxe"), end("fd00::1")], **server},
    }


GROUPS = {"clients": ["c1"], "servers": ["s1"]}


class Mounts(unittest.TestCase):
    def test_rdma_where_both_ends_have_a_device_and_sockets_everywhere(self):
        found = [
            (m["name"], m["proto"], m["port"], m["address"]) for m in filters().nfs_mounts("c1", hostvars(), GROUPS)
        ]
        self.assertEqual(
            found,
            [
                ("s1-wan-rxe-rdma", "rdma", 20049, "10.3.0.1"),
                ("s1-wan-rxe-tcp", "tcp", 2049, "10.3.0.1"),
                ("s1-wan-tcp", "tcp6", 2049, "[fd00::1]"),
            ],
        )
        self.assertEqual(filters().nfs_mounts("s1", hostvars(), GROUPS), [])

    def test_only_clients_addresses_are_exported_to(self):
        self.assertEqual(filters().nfs_clients("s1", hostvars(), GROUPS), ["10.1.0.1", "10.2.0.1"])
        self.assertEqual(filters().nfs_clients("c1", hostvars(), GROUPS), [])


class NfsScript(ScriptCase):
    name = "nfs"
    fakes = ["systemctl", "modprobe", "mount", "umount", "exportfs"]
    folders = ["etc", "sys/module", "proc/fs/nfsd", "proc/self"]
    moved = ["/sys/", "/proc/", "/run/", "/etc/"]

    def setUp(self):
        super().setUp()
        for file in ["proc/mounts", "proc/modules", "proc/self/mountstats", "active"]:
            self.write(file, "")

    def render(self, host, vars_of_hosts=None, **changes):
        known = vars_of_hosts or hostvars()
        variables = {
            "inventory_hostname": host,
            "hostvars": known,
            "longhaul_attachments": known[host]["longhaul_attachments"],
            "nfs_mounts": filters().nfs_mounts(host, known, GROUPS),
            "nfs_clients": filters().nfs_clients(host, known, GROUPS),
            "nfs_directory": known[host].get("nfs_directory", ""),
            "nfs_size": "256m",
            "nfs_threads": 8,
            **changes,
        }
        self.render_with(variables)

    def state(self):
        files = ["proc/mounts", "active", "etc/nfs.conf.d/longhaul.conf", "etc/exports.d/longhaul.exports"]
        return {file: self.read(file) for file in files} | {"run": sorted(os.listdir(self.root / "run"))}

    def test_the_server_exports_once_and_to_clients_alone(self):
        self.render("s1")
        before = self.state()
        self.assertEqual(self.run_script("check", 1), ["missing: export /run/longhaul-nfs/export"])
        self.assertEqual(self.run_script("up"), ["made: export /run/longhaul-nfs/export"])
        exports = self.read("etc/exports.d/longhaul.exports").replace(str(self.root), "").splitlines()
        options = "(rw,sync,insecure,no_subtree_check,fsid=20049)"
        self.assertEqual(
            exports, [f"/run/longhaul-nfs/export {address}{options}" for address in ("10.1.0.1", "10.2.0.1")]
        )
        self.assertIn("tmpfs rw,size=256m,mode=0777", self.read("proc/mounts"))
        self.assertIn("rdma=y", self.read("etc/nfs.conf.d/longhaul.conf"))
        self.assertEqual(self.run_script("up") + self.run_script("check"), [])
        self.assertEqual(self.run_script("down"), ["undone: export /run/longhaul-nfs/export"])
        self.assertEqual(self.state(), before)
        self.assertEqual(self.read("restarted").split(), ["nfs-server"])
        self.assertEqual(self.run_script("down"), [])

    def test_a_server_that_has_exports_of_its_own_is_left_alone(self):
        self.write("etc/exports", "# mine\n/srv/home 192.0.2.0/24(rw)")
        self.render("s1")
        before = self.state()
        self.assertEqual(self.run_script("up", 1), [])
        self.assertIn("s1: it exports folders of its own ( /srv/home ), and is left alone", self.errors)
        self.assertEqual({**self.state(), "run": []}, {**before, "run": []})

    def test_a_server_that_ran_before_runs_on_without_our_exports(self):
        self.write("active", "nfs-server.service")
        self.render("s1")
        self.run_script("up")
        self.assertIn("rdma", self.read("proc/fs/nfsd/portlist"))
        self.run_script("down")
        self.assertEqual(self.read("active"), "nfs-server.service\n")
        self.assertNotIn("rdma", self.read("proc/fs/nfsd/portlist"))

    def test_changed_settings_are_applied(self):
        self.render("s1")
        self.run_script("up")
        self.render("s1", nfs_threads=2)
        self.assertEqual(self.run_script("up"), ["made: export /run/longhaul-nfs/export"])
        self.assertIn("threads=2", self.read("etc/nfs.conf.d/longhaul.conf"))

    def test_a_folder_of_the_operator_is_exported_as_it_is(self):
        folder = self.root / "data"
        known = hostvars(nfs_directory=str(folder))
        self.render("s1", known)
        self.run_script("up", 1)
        self.assertIn(f"there is no folder {folder}. Remedy: make it", self.errors)
        folder.mkdir()
        (folder / "file").touch()
        self.run_script("up")
        self.assertNotIn("tmpfs", self.read("proc/mounts"))
        self.run_script("down")
        self.assertTrue((folder / "file").exists())
        self.render("c1", known)
        self.run_script("up")
        self.assertIn(f"10.3.0.1:{folder} ", self.read("proc/mounts"))

    def test_the_client_mounts_once_and_unmounts(self):
        self.render("c1")
        self.write("proc/mounts", "192.0.2.9:/home /home nfs4 rw,proto=tcp 0 0")
        before = self.state()
        names = ["s1-wan-rxe-rdma", "s1-wan-rxe-tcp", "s1-wan-tcp"]
        self.assertEqual(self.run_script("up"), [f"made: mount /run/longhaul-nfs/{name}" for name in names])
        self.assertIn("vers=3,nolock,nosuid,nodev,noexec,proto=rdma,port=20049,", self.read("proc/mounts"))
        self.assertIn("proto=tcp6,port=2049,mountproto=tcp6", self.read("proc/mounts"))
        self.assertEqual(self.run_script("up") + self.run_script("check"), [])
        self.run_script("down")
        self.assertEqual(self.state(), before)

    def test_what_is_no_longer_wanted_is_unmounted(self):
        self.render("c1")
        self.run_script("up")
        self.render("c1", nfs_mounts=[])
        self.assertEqual(len(self.run_script("up")), 3)
        self.assertEqual(self.read("proc/mounts"), "")

    def test_a_mount_by_another_transport_is_no_mount(self):
        self.render("c1")
        self.write("no-rdma", "")
        self.assertNotIn("made: mount /run/longhaul-nfs/s1-wan-rxe-rdma", self.run_script("up", 1))
        self.assertIn("s1-wan-rxe-rdma was mounted by tcp, not by rdma", self.errors)
        self.assertNotIn("rdma", self.read("proc/mounts"))

    def test_a_failure_tells_the_source_and_the_others_go_on(self):
        self.render("c1")
        self.write("refuse-mount", f"[fd00::1]:{self.root}/run/longhaul-nfs/export")
        self.assertEqual(len(self.run_script("up", 1)), 2)
        self.assertIn("by tcp6: mount.nfs: Connection refused. Remedy: is it exported", self.errors)


if __name__ == "__main__":
    unittest.main()
