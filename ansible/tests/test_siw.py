"""What is changed of siw's sources: one line, once, and never another siw."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

ANSIBLE = pathlib.Path(__file__).resolve().parent.parent
OTHER = """int siw_connect(struct iw_cm_id *id)
{
	siw_qp_socket_assoc(cep, qp);
}
"""
KNOWN = """
int siw_accept(struct iw_cm_id *id)
{
		/* Move socket RX/TX under QP control */
		siw_qp_socket_assoc(cep, qp);
	return 0;
}
"""
LINE = "\t\tlock_sock(cep->sock->sk); siw_qp_llp_data_ready(cep->sock->sk); release_sock(cep->sock->sk);\n"


class MendSiw(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def mend(self, text):
        """The text afterwards, and what was said."""
        file = self.folder / "siw_cm.c"
        file.write_text(text)
        script = ANSIBLE / "roles/rdma/files/mend-siw"
        done = subprocess.run(["dash", script, self.folder], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return file.read_text(), done.stderr

    def test_the_server_looks_once_more_when_it_has_the_socket(self):
        after, said = self.mend(OTHER + KNOWN)
        self.assertEqual(after, OTHER + KNOWN.replace("qp);\n", "qp);\n" + LINE))
        self.assertEqual(said, "")
        self.assertEqual(self.mend(after), (after, ""), "a second time changes nothing")

    def test_another_siw_stays_as_it_is(self):
        after, said = self.mend(OTHER)
        self.assertEqual(after, OTHER)
        self.assertIn("may be overlooked", said)


if __name__ == "__main__":
    unittest.main()
