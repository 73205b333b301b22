// The services of a lab VM as the guest's shell runs them, over folders and programs in the places of the kernel's.
#include "lab/plan/services.hh"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace longhaul::lab {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

/// A service fed with lines; what it left there and said.
class Service : public testing::Test {
 protected:
  Service() { fs::create_directories(root_ / "run"); }
  ~Service() override { fs::remove_all(root_); }

  using Places = std::vector<std::pair<std::string, std::string>>;
  void run(std::string script, const Places& places, const std::string& lines) {
    const auto replace = [&](const std::string& from, const std::string& to) {
      for (std::size_t at = 0; (at = script.find(from, at)) != std::string::npos; at += to.size())
        script.replace(at, from.size(), to);
    };
    for (const auto& [from, to] : places) replace(from, (root_ / to).string());
    replace("chown ", ": chown ");
    // The end of the lines is the end of the service.
    replace("done <>$f\n", "done <<'E'\n" + lines + "E\nexit 0\n");
    FILE* shell = ::popen(fmt::format("PATH={}:$PATH dash", (root_ / "bin").string()).c_str(), "w");
    std::fwrite(script.data(), 1, script.size(), shell);
    EXPECT_EQ(::pclose(shell), 0);
  }
  std::string text(const std::string& file) const {
    std::ifstream in(root_ / file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool exists(const std::string& file) const { return fs::exists(root_ / file); }

  const fs::path root_ = fs::path(testing::TempDir()) / fmt::format("service-{}", ::getpid());
  const std::string me_ = fmt::format("{}", ::getpid());
};

class Tracing : public Service {
 protected:
  Tracing() {
    fs::create_directories(root_ / "tracing");
    for (const char* file : {"tracing_on", "buffer_size_kb", "trace_options", "kprobe_events"})
      std::ofstream(root_ / "tracing" / file) << "-\n";
    // The kernel has these as soon as the probes are asked for.
    for (const std::string probe : {"enter_1", "leave_1", "enter_2", "leave_2"}) {
      fs::create_directories(root_ / "tracing/events/longhaul" / probe);
      std::ofstream(root_ / "tracing/events/longhaul" / probe / "id") << "16" + probe.substr(6) + "\n";
    }
    std::ofstream(root_ / "tracing/trace") << "a trace\n";
  }
  void feed(const std::string& lines) {
    run(tracing_script(), {{"/sys/kernel/tracing", "tracing"}, {"/run/longhaul/tracing", "run/tracing"}}, lines);
  }
};

TEST_F(Tracing, StartsForOneThreadAndTheseFunctions) {
  feed("start one-1 " + me_ + " ib_umem_get rxe_mr_init_user\n");
  EXPECT_TRUE(exists("run/tracing-one-1.on"));
  EXPECT_EQ(text("tracing/kprobe_events"),
            "\np:longhaul/enter_1 ib_umem_get\nr:longhaul/leave_1 ib_umem_get\n"
            "p:longhaul/enter_2 rxe_mr_init_user\nr:longhaul/leave_2 rxe_mr_init_user\n");
  EXPECT_EQ(text("tracing/events/longhaul/filter"), "common_pid == " + me_ + "\n");
  EXPECT_EQ(text("tracing/events/longhaul/enable"), "1\n");
  EXPECT_EQ(text("tracing/tracing_on"), "1\n");
}

TEST_F(Tracing, StopLeavesTheTextAndATracerThatIsOff) {
  feed("start one " + me_ + " ib_umem_get\nstop other\nstop one\n");
  EXPECT_TRUE(exists("run/tracing-one.txt"));
  EXPECT_FALSE(exists("run/tracing-other.txt"));
  EXPECT_FALSE(exists("run/tracing-one.on"));
  EXPECT_EQ(text("run/tracing-one.txt"), "enter 161 ib_umem_get\nleave 161 ib_umem_get\n\n") << "old events are gone";
  EXPECT_EQ(text("tracing/events/longhaul/enable"), "0\n");
  EXPECT_EQ(text("tracing/kprobe_events"), "\n");
  EXPECT_EQ(text("tracing/tracing_on"), "0\n");
}

TEST_F(Tracing, WhoHasTheTracerKeepsItWhileItLives) {
  feed("start one " + me_ + " ib_umem_get\nstart two " + me_ + " ib_umem_get\n");
  EXPECT_TRUE(exists("run/tracing-one.on"));
  EXPECT_FALSE(exists("run/tracing-two.on"));
}

TEST_F(Tracing, LinesThatAreNotAsTheyShouldBeAreLeftUnanswered) {
  const std::vector<std::string> lines{"start ../one " + me_ + " f", "start one 12x f",         "start one " + me_,
                                       "start one " + me_ + " f;g",  "start one " + me_ + " *", "start one 999999999 f",
                                       "begin one " + me_ + " f"};
  for (const std::string& line : lines) {
    feed(line + "\n");
    EXPECT_EQ(text("tracing/kprobe_events"), "\n") << line;
    EXPECT_FALSE(exists("run/tracing-one.on")) << line;
  }
}

/// Programs that write down how they were called, in the places of those that need root.
class Nfs : public Service {
 protected:
  Nfs() {
    fs::create_directories(root_ / "bin");
    for (const char* name : {"modprobe", "mount", "umount", "rpcbind", "rpc.mountd", "rpc.nfsd", "exportfs"})
      program(name, "");
    program("mount.nfs", "echo \"nfs $2 nfs\" >>" + (root_ / "mounts").string() + "\n");
    std::ofstream(root_ / "mounts");
    fs::create_directories(root_ / "nfsd");
    fs::create_directories(root_ / "sunrpc");
  }
  void program(const std::string& name, const std::string& more) {
    const auto path = root_ / "bin" / name;
    std::ofstream(path) << "#!/bin/sh\necho \"" << name << " $*\" >>" << (root_ / "calls").string() << "\n" << more;
    fs::permissions(path, fs::perms::owner_all);
  }
  std::optional<NfsProcessors> processors_;
  void feed(const std::string& lines) {
    run(nfs_script(processors_),
        {{"/proc/fs/nfsd", "nfsd"},
         {"/proc/sys/sunrpc", "sunrpc"},
         {"/proc/mounts", "mounts"},
         {"/sys/devices/virtual/workqueue", "workqueue"},
         {"/var/lib/nfs", "var"},
         {"/etc/exports", "exports"},
         {"/run/longhaul/export", "run/export"},
         {"/run/longhaul/nfs", "run/nfs"}},
        lines);
  }
};

TEST_F(Nfs, ServesAndEnds) {
  feed("serve one " + me_ + " 4\n");
  EXPECT_EQ(text("run/nfs-one.serve"), "ok\n");
  EXPECT_EQ(text("nfsd/max_block_size"), "1048576\n");
  EXPECT_THAT(text("calls"), HasSubstr("modprobe rpcrdma\nmodprobe nfsd\nmodprobe nfsv3\n"));
  EXPECT_THAT(text("calls"), HasSubstr("rpcbind -w\nrpc.mountd -V 3 -p 20048\n"));
  EXPECT_THAT(text("calls"), HasSubstr("rpc.nfsd -N 4 -U -r 4\n"));
  fs::remove(root_ / "calls");
  feed("serve one " + me_ + " 4\nend one\n");
  EXPECT_THAT(text("calls"), HasSubstr("rpc.nfsd 0\nexportfs -f\numount "));
  EXPECT_FALSE(exists("run/nfs-one.serve"));
}

TEST_F(Nfs, StaysOnTheProcessorsOfItsNodes) {
  program("pidof", "echo 17 19\n");
  program("taskset", "[ $1 = -p ] || { shift; \"$@\"; }\n");
  fs::create_directories(root_ / "workqueue");
  feed("serve one " + me_ + " 4\nmount two " + me_ + " 10.20.0.1 rdma 20049 131072 16\n");
  EXPECT_THAT(text("calls"), Not(HasSubstr("taskset"))) << "nodes of their own machine may use all of it";
  EXPECT_FALSE(exists("workqueue/cpumask"));
  fs::remove(root_ / "calls");
  processors_ = {.client = 1, .server = 2};
  feed("serve one " + me_ + " 4\nmount two " + me_ + " 10.20.0.1 rdma 20049 131072 16\n");
  EXPECT_THAT(text("calls"), HasSubstr("rpc.nfsd -N 4 -U -r 4\npidof nfsd\ntaskset -p 2 17\ntaskset -p 2 19\n"));
  EXPECT_EQ(text("workqueue/cpumask"), "1\n");
  EXPECT_THAT(text("calls"), HasSubstr("taskset 1 mount.nfs 10.20.0.1:"));
  EXPECT_EQ(text("run/nfs-two.mount"), "ok\n");
  EXPECT_EQ(text("run/nfs-one.serve"), "ok\n");
}

TEST_F(Nfs, DaemonsBeginOnce) {
  feed("serve one " + me_ + " 4\n");
  std::ofstream(root_ / "nfsd/threads") << "4\n";
  fs::remove(root_ / "calls");
  feed("serve one " + me_ + " 4\n");
  EXPECT_THAT(text("calls"), Not(HasSubstr("rpcbind")));
}

TEST_F(Nfs, ArePreparedWithoutAServer) {
  feed("prepare one " + me_ + " all\n");
  EXPECT_EQ(text("run/nfs-one.prepare"), "ok\n");
  EXPECT_THAT(text("calls"), HasSubstr("modprobe nfsv3\n"));
  EXPECT_THAT(text("calls"), HasSubstr("rpc.mountd -V 3 -p 20048\n"));
  EXPECT_THAT(text("calls"), Not(HasSubstr("rpc.nfsd")));
  feed("prepare one " + me_ + " all\nend one\n");
  EXPECT_FALSE(exists("run/nfs-one.prepare"));
}

TEST_F(Nfs, MountsAndUnmounts) {
  std::ofstream(root_ / "sunrpc/rdma_slot_table_entries") << "128\n";
  feed("mount two " + me_ + " 10.20.0.1 rdma 20049 131072 16\n");
  EXPECT_EQ(text("run/nfs-two.mount"), "ok\n");
  EXPECT_EQ(text("sunrpc/rdma_slot_table_entries"), "16\n");
  EXPECT_THAT(text("calls"), HasSubstr("mount.nfs 10.20.0.1:" + (root_ / "run/export").string() + " " +
                                       (root_ / "run/nfs-two.mnt").string() +
                                       " -o vers=3,nolock,proto=rdma,port=20049,mountproto=tcp,mountport=20048,rsize="
                                       "131072,wsize=131072,retry=0\n"));
  feed("end two\n");
  EXPECT_THAT(text("calls"), HasSubstr("umount -f " + (root_ / "run/nfs-two.mnt").string() + "\n"));
  EXPECT_FALSE(exists("run/nfs-two.mnt"));
}

TEST_F(Nfs, OneServerAtATimeUnlessItsProcessIsGone) {
  feed("serve one " + me_ + " 4\nserve two " + me_ + " 4\n");
  EXPECT_EQ(text("run/nfs-two.serve"), "failed\nthe NFS server of this machine is taken: by one\n");
  feed("serve one 999999999 4\nserve two " + me_ + " 4\n");
  EXPECT_EQ(text("run/nfs-two.serve"), "ok\n");
  EXPECT_FALSE(exists("run/nfs-one.serve"));
}

TEST_F(Nfs, WhatIsMissingIsNamed) {
  program("modprobe", "[ $1 != nfsd ]\n");
  feed("serve one " + me_ + " 4\n");
  EXPECT_EQ(text("run/nfs-one.serve"), "unsupported\nthe kernel has no module nfsd: install linux-image-amd64\n");
  program("modprobe", "");
  program("rpc.nfsd", "echo no threads\nexit 1\n");
  feed("serve one " + me_ + " 4\n");
  EXPECT_EQ(text("run/nfs-one.serve"), "failed\nno threads\n");
}

TEST_F(Nfs, LinesThatAreNotAsTheyShouldBeAreLeftUnanswered) {
  const std::vector<std::string> lines{"serve ../one " + me_ + " 4",
                                       "serve one 12x 4",
                                       "serve one " + me_,
                                       "serve one " + me_ + " 4;x",
                                       "serve one " + me_ + " $(touch x)",
                                       "begin one " + me_ + " 4",
                                       "serve"};
  for (const std::string& line : lines) {
    feed(line + "\n");
    EXPECT_FALSE(exists("run/nfs-one.serve")) << line;
    EXPECT_FALSE(exists("calls")) << line;
  }
}

}  // namespace
}  // namespace longhaul::lab
