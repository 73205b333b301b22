#!/usr/bin/python3
"""Stands for every program that the scripts network and nfs call: a kernel of files under $FAKE, named after what they hold."""

import os
import re
import shutil
import sys

root = os.environ["FAKE"]
name = os.path.basename(sys.argv[0])
args = sys.argv[1:]


def path(*parts):
    return os.path.join(root, *parts)


def lines(file):
    try:
        with open(path(file)) as f:
            return f.read().splitlines()
    except FileNotFoundError:
        return []


def save(file, content):
    with open(path(file), "w") as f:
        f.writelines(line + "\n" for line in content)


def fail(text):
    sys.exit(text)


def ip():
    words = [w for w in args if w not in ("-4", "-6", "-o")]
    if words[:2] == ["link", "show"]:
        sys.exit(not os.path.exists(path("address-" + words[3])))
    if words[:2] == ["address", "show"]:
        print("\n".join(lines("address-" + words[3])))
    elif words[:2] == ["route", "show"]:
        print("\n".join(one for one in lines("routes") if one.startswith(words[2] + " ")))
    elif words[:2] == ["route", "replace"]:
        dest, via, dev, src, proto = words[2], words[4], words[6], words[8], words[10]
        kept = [one for one in lines("routes") if not one.startswith(dest + " ")]
        save("routes", kept + [f"{dest} via {via} dev {dev} proto {proto} src {src} "])
    elif words[:2] == ["route", "flush"]:
        save("routes", [one for one in lines("routes") if f" proto {words[3]} " not in one])
    elif words[:2] == ["route", "del"]:
        gone = " ".join(words[2:])
        kept = [one for one in lines("routes") if not one.startswith(gone)]
        if kept == lines("routes"):
            fail("RTNETLINK answers: No such process")
        save("routes", kept)


def rdma():
    if args[1] == "show":
        print("\n".join(lines("links")))
    elif args[1] == "add":
        if os.path.exists(path("refuse-link")):
            fail("error: Invalid argument")
        os.makedirs(path("sys/class/infiniband", args[2]))
        save("links", lines("links") + [f"link {args[2]}/1 state ACTIVE physical_state LINK_UP netdev {args[6]} "])
    elif args[1] == "delete":
        os.rmdir(path("sys/class/infiniband", args[2]))
        save("links", [one for one in lines("links") if not one.startswith(f"link {args[2]}/")])


def ethtool():
    names = {"tso": "tcp-segmentation", "gso": "generic-segmentation", "gro": "generic-receive", "lro": "large-receive"}
    if args[0] == "-k":
        print("\n".join(lines("offloads-" + args[1])))
    else:
        key = names[args[2]] + "-offload"
        save(
            "offloads-" + args[1],
            [f"{key}: {args[3]}" if one.startswith(key) else one for one in lines("offloads-" + args[1])],
        )


def sysctl():
    values = dict(one.split("=", 1) for one in lines("sysctl"))
    if args[0] == "-n":
        print(values[args[1]].replace(" ", "\t"))
    else:
        key, value = args[-1].split("=", 1)
        values[key] = value
        save("sysctl", [f"{key}={value}" for key, value in values.items()])


def modprobe():
    if "-r" in args:
        shutil.rmtree(path("sys/module", args[-1]), ignore_errors=True)
    elif args[0] in lines("no-modules"):
        fail(f"modprobe: FATAL: Module {args[0]} not found")
    else:
        os.makedirs(path("sys/module", args[0]), exist_ok=True)


def chrt():
    policy, pid = ("1", args[-1]) if args[0] == "-f" else ("0", args[-1])
    fields = lines(f"proc/{pid}/stat")[0].split()
    fields[40] = policy
    save(f"proc/{pid}/stat", [" ".join(fields)])


def systemctl():
    active = lines("active")
    if args[0] == "is-system-running":
        print(lines("system")[0])
    elif args[0] == "list-units":
        print("\n".join(f"{unit} loaded active running" for unit in active))
    elif args[:2] == ["-q", "is-active"]:
        sys.exit(args[2] + ".service" not in active)
    elif args[0] == "restart":
        # nfs-server, with what it wants.
        save("active", dict.fromkeys([*active, "rpcbind.socket", args[1] + ".service"]))
        conf = lines("etc/nfs.conf.d/longhaul.conf")
        save("proc/fs/nfsd/portlist", ["tcp 2049"] + ["rdma 20049"] * ("rdma=y" in conf))
        save("proc/modules", dict.fromkeys([*lines("proc/modules"), "nfsd 1 0"]))
        save("restarted", [*lines("restarted"), args[1]])
    elif args[0] == "stop":
        save("active", [unit for unit in active if unit not in args])
    else:
        print("\n".join("active" if unit in active else "inactive" for unit in args[1:]))


def nft():
    if args[:2] == ["list", "chains"]:
        print("table inet filter {\n\tchain input {\n\t\ttype filter hook input priority filter; policy drop;\n\t}")
        print("\tchain forward {\n\t\ttype filter hook forward priority filter; policy drop;\n\t}\n}")
        print("table inet longhaul_degen {\n\tchain forward {\n\t\ttype filter hook forward priority 0; policy accept;")
        print("\t}\n}\ntable ip filter {\n\tchain INPUT {\n\t\ttype filter hook input priority filter; policy drop;\n\t}\n}")
    elif args[:2] == ["-f", "-"]:
        text = sys.stdin.read()
        if os.path.exists(path("refuse-nft")):
            fail("Error: Could not process rule: Operation not supported")
        save("nft-own", text.partition("delete table")[2].splitlines()[1:])
    elif args[:2] == ["list", "table"]:
        if not lines("nft-own"):
            fail("Error: No such file or directory")
        print("\n".join(lines("nft-own")))
    elif args[:2] == ["delete", "table"]:
        save("nft-own", [])
    elif args[0] == "-a":
        print("\n".join(f"\t\t{one}" for one in lines("nft-" + "-".join(args[3:6]))))
    elif args[:2] == ["insert", "rule"]:
        file = "nft-" + "-".join(args[2:5])
        handle = 10 + len(lines(file))
        save(file, [" ".join(args[5:]) + f" # handle {handle}"] + lines(file))
    elif args[:2] == ["delete", "rule"]:
        file = "nft-" + "-".join(args[2:5])
        save(file, [one for one in lines(file) if not re.search(f"# handle {args[6]}$", one)])


def firewall_cmd():
    """Zones as files zone-NAME and zone-NAME-permanent: interfaces by name, rules."""
    options = dict(one.partition("=")[::2] for one in args)
    if name == "firewall-cmd" and "firewalld" not in lines("active"):
        sys.exit("FirewallD is not running")
    stays = "-permanent" if "--permanent" in options or name == "firewall-offline-cmd" else ""
    if "--state" in options:
        sys.exit(0)
    if "--get-default-zone" in options:
        print("public")
    elif "--list-all-zones" in options:
        for zone in ["dmz", "public"]:
            held = lines(f"zone-{zone}{stays}")
            print(f"{zone}\n  target: default\n  interfaces: {' '.join(one for one in held if ' ' not in one)}")
            print(f"  forward: {'no' if os.path.exists(path('no-forward')) else 'yes'}\n  rich rules: ")
            print("\n".join("\t" + one for one in held if " " in one) + "\n")
    elif "--list-all-policies" in options:
        print("\n".join(lines("policies")))
    else:
        (change, what), = [(key[2:].partition("-")[0], value) for key, value in options.items() if key[:5] in ("--add", "--rem")]
        file = f"zone-{options['--zone']}{stays}"
        save(file, [one for one in lines(file) if one != what] + [what] * (change == "add"))


def ufw():
    if args == ["status"]:
        print("Status: " + ("active" if os.path.exists(path("ufw")) else "inactive"))
    elif args == ["show", "added"]:
        print("\n".join(["Added user rules (see 'ufw status' for running firewall):", *lines("ufw")]))
    else:
        words = [one for one in args if one != "prepend"]
        comment = words.index("comment") if "comment" in words else len(words)
        rule = " ".join(["ufw", *words[:comment]])
        if "delete" in words:
            save("ufw", [one for one in lines("ufw") if not one.startswith(rule.replace("delete ", "") + " ")])
        else:
            save("ufw", [*lines("ufw"), f"{rule} comment '{words[-1]}'"])


def mount():
    source, at = args[-2:]
    kind, options = args[1], args[3]
    if source in lines("refuse-mount"):
        fail("mount.nfs: Connection refused")
    save("proc/mounts", lines("proc/mounts") + [f"{source} {at} {kind} rw,{options} 0 0"])
    proto = re.search("proto=([a-z]*)", options)
    if proto:
        used = "tcp" if os.path.exists(path("no-rdma")) else proto.group(1)
        told = [f"device {source} mounted on {at} with fstype nfs statvers=1.1", f"\txprt:\t{used} 0 1 1"]
        save("proc/self/mountstats", lines("proc/self/mountstats") + told)


def umount():
    kept = [one for one in lines("proc/mounts") if one.split()[1] != args[-1]]
    if kept == lines("proc/mounts"):
        fail("umount: not mounted")
    save("proc/mounts", kept)


{
    "ip": ip,
    "rdma": rdma,
    "ethtool": ethtool,
    "sysctl": sysctl,
    "modprobe": modprobe,
    "chrt": chrt,
    "systemctl": systemctl,
    "nft": nft,
    "firewall-cmd": firewall_cmd,
    "firewall-offline-cmd": firewall_cmd,
    "ufw": ufw,
    "mount": mount,
    "umount": umount,
    "exportfs": lambda: print("\n".join(lines("exported"))),
    "udevadm": lambda: None,
}[name]()
