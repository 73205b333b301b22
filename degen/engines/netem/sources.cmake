set(sources qdisc_message.cc)
set(libs "")
