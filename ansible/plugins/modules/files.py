#!/usr/bin/python
# Copyright: the longhaul authors
# SPDX-License-Identifier: Apache-2.0
"""Writes small files, several in one task: under emulation each round trip to a node costs seconds."""

DOCUMENTATION = r"""
---
module: files
short_description: Writes several small files
description:
  - Each file is replaced as a whole, with its owner and mode from the beginning - nobody can read a key in between.
  - Folders must be there; in check mode a missing one counts as a change to come.
  - A task that writes secrets needs C(no_log), as with other modules.
version_added: 0.1.0
options:
  files:
    description: What is to be there.
    type: list
    elements: dict
    required: true
    suboptions:
      path:
        description: The file.
        type: path
        required: true
      content:
        description: All of its text.
        type: str
        required: true
      owner:
        description: Its owner.
        type: str
        default: root
      group:
        description: Its group.
        type: str
        default: root
      mode:
        description: Its mode, octal.
        type: str
        default: "0644"
author:
  - The longhaul authors
"""

EXAMPLES = r"""
- name: Write two files
  longhaul.testbed.files:
    files:
      - {path: /etc/modules-load.d/longhaul.conf, content: "rdma_rxe\n"}
      - {path: /etc/longhaul/agent.key, content: "{{ lookup('file', 'agent.key') }}", owner: longhaul, mode: "0600"}
"""

RETURN = r"""
written:
  description: Paths of the files that are others now.
  returned: always
  type: list
  elements: str
"""

import grp
import os
import pwd
import stat

from ansible.module_utils.basic import AnsibleModule


def is_as_wanted(file, uid, gid):
    try:
        status = os.lstat(file["path"])
        with open(file["path"], "rb") as present:
            same = present.read() == file["content"].encode()
    except OSError:
        return False
    mode = stat.S_ISREG(status.st_mode) and stat.S_IMODE(status.st_mode) == int(file["mode"], 8)
    return same and mode and (status.st_uid, status.st_gid) == (uid, gid)


def write(file, uid, gid):
    new = file["path"] + ".new"
    if os.path.lexists(new):
        os.unlink(new)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(file["content"].encode())
        os.fchown(out.fileno(), uid, gid)
        os.fchmod(out.fileno(), int(file["mode"], 8))
        os.fsync(out.fileno())
    os.rename(new, file["path"])


class Module(AnsibleModule):
    def _log_invocation(self):
        """Whole files are not for the journal."""


def main():
    module = Module(
        argument_spec={
            "files": {
                "type": "list",
                "elements": "dict",
                "required": True,
                "options": {
                    "path": {"type": "path", "required": True},
                    "content": {"type": "str", "required": True, "no_log": True},
                    "owner": {"type": "str", "default": "root"},
                    "group": {"type": "str", "default": "root"},
                    "mode": {"type": "str", "default": "0644"},
                },
            }
        },
        supports_check_mode=True,
    )
    written = []
    for file in module.params["files"]:
        try:
            uid, gid = pwd.getpwnam(file["owner"]).pw_uid, grp.getgrnam(file["group"]).gr_gid
            if is_as_wanted(file, uid, gid):
                continue
            if not module.check_mode:
                write(file, uid, gid)
        except KeyError as error:
            module.fail_json(msg=f"{file['path']}: {error.args[0]}", written=written)
        except OSError as error:
            module.fail_json(msg=f"cannot write {file['path']}: {error.strerror}", written=written)
        written.append(file["path"])
    module.exit_json(changed=bool(written), written=written)


if __name__ == "__main__":
    main()
