set(sources messages.cc programs.cc)
set(libs PkgConfig::bpf)
