"""A role's shell script, made of its template and run against a kernel of files."""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import jinja2

ANSIBLE = pathlib.Path(__file__).resolve().parent.parent


def filters():
    spec = importlib.util.spec_from_file_location("testbed", ANSIBLE / "plugins/filter/testbed.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class ScriptCase(unittest.TestCase):
    """Of role NAME, whose script is templates/NAME.j2. `fakes`: programs that fake.py stands for. `folders`: there at the
    start. `moved`: parts of the system that the script finds below `root` instead."""

    name = ""
    fakes = []
    folders = []
    moved = []

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        for folder in ["bin", "run", *self.folders]:
            (self.root / folder).mkdir(parents=True)
        for fake in self.fakes:
            (self.root / "bin" / fake).symlink_to(ANSIBLE / "tests/fake.py")

    def write(self, file, text):
        (self.root / file).write_text(text + "\n" if text else "")

    def read(self, file):
        return (self.root / file).read_text() if (self.root / file).exists() else ""

    def render_with(self, variables):
        """Makes the script."""
        environment = jinja2.Environment(
            trim_blocks=True,
            keep_trailing_newline=True,
            undefined=jinja2.StrictUndefined,
            loader=jinja2.FileSystemLoader(ANSIBLE / "roles" / self.name / "templates"),
        )
        for name, function in filters().FilterModule().filters().items():
            environment.filters["longhaul.testbed." + name] = function
        environment.filters["bool"] = bool
        text = environment.get_template(f"{self.name}.j2").render(ansible_managed="Ansible managed", **variables)
        text = text.replace("PATH=/usr/sbin:", f"PATH={self.root}/bin:/usr/sbin:").replace("tries=30", "tries=0")
        for part in self.moved:
            text = text.replace(part, str(self.root) + part)
        script = self.root / self.name
        script.write_text(text)
        script.chmod(0o755)

    def run_script(self, verb, code=0):
        """Its lines of output, without the root. What it says of errors is in `errors`."""
        done = subprocess.run(
            ["dash", self.root / self.name, verb],
            env={**os.environ, "FAKE": str(self.root)},
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.errors = done.stderr
        return done.stdout.replace(str(self.root), "").splitlines()
