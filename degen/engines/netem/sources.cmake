set(sources netlink.cc qdisc_message.cc)
set(libs PkgConfig::nl)
