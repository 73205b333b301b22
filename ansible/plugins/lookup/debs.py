# Copyright: the longhaul authors
# SPDX-License-Identifier: Apache-2.0
"""The .deb files that a node should get: by content, because a rebuilt package keeps its version."""

DOCUMENTATION = r"""
---
name: debs
short_description: longhaul's package files that a node does not have yet
description:
  - For each package the newest file I(NAME_*.deb) of a folder on the controller, left out where the node has installed
    just that file. An empty folder's name yields nothing - packages then come from apt's sources.
options:
  _terms:
    description: Names of packages.
    required: true
  folder:
    description: Folder on the controller.
    default: ""
  installed:
    description: Package to SHA-256, as C(longhaul_node.debs) has it, of those that are installed.
    type: dict
    default: {}
"""

RETURN = r"""
_raw:
  description: A list of dictionaries with package, file and sha256.
"""

import glob
import hashlib
import os

from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase


class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kwargs):
        self.set_options(var_options=variables, direct=kwargs)
        folder = os.path.expanduser(self.get_option("folder"))
        if not folder:
            return []
        wanted = []
        for name in terms:
            files = glob.glob(os.path.join(glob.escape(folder), name + "_*.deb"))
            if not files:
                raise AnsibleError(
                    f"no {name}_*.deb in {folder} on the controller. Remedy: build longhaul's packages into that folder, "
                    "or leave longhaul_packages empty where apt's sources have them"
                )
            newest = max(files, key=os.path.getmtime)
            with open(newest, "rb") as file:
                digest = hashlib.sha256(file.read()).hexdigest()
            if self.get_option("installed").get(name) != digest:
                wanted.append({"package": name, "file": newest, "sha256": digest})
        return wanted
