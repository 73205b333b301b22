#include "observe/facts.hh"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "common/scratch_folder.hh"

namespace longhaul::observe {
namespace {

TEST(CpuModel, ReadsTheNameOnSeveralArchitectures) {
  EXPECT_EQ(cpu_model("processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7763\nstepping\t: 1\n"), "AMD EPYC 7763");
  EXPECT_EQ(cpu_model("processor\t: 0\nBogoMIPS\t: 50\n\nModel\t\t: Raspberry Pi 4\n"), "Raspberry Pi 4");
  EXPECT_EQ(cpu_model("processor\t: 0\nmodel name\t:\n"), "");
  EXPECT_EQ(cpu_model(""), "");
}

TEST(MachineModel, IsWhatTheFirmwareTells) {
  const ScratchFolder dmi{"longhaul-dmi"};
  EXPECT_EQ(machine_model(dmi.path()), std::nullopt);
  std::ofstream{dmi.path() / "sys_vendor"} << "QEMU\n";
  std::ofstream{dmi.path() / "product_version"} << "pc-q35-10.0\n";
  EXPECT_EQ(machine_model(dmi.path()), "QEMU pc-q35-10.0");
  std::ofstream{dmi.path() / "product_name"} << "Standard PC (Q35 + ICH9, 2009)\n";
  EXPECT_EQ(machine_model(dmi.path()), "QEMU Standard PC (Q35 + ICH9, 2009) pc-q35-10.0");
}

// In a process of its own, without the capability that lifts it.
TEST(LockedBytes, AreTheLimitThatHolds) {
  const auto said_below = [](rlim_t most, bool privileged) {
    const pid_t child = ::fork();
    if (child == 0) {
      const rlimit limit{most, most};
      if (::setrlimit(RLIMIT_MEMLOCK, &limit) != 0) ::_exit(1);
      if (!privileged && ::setuid(65534) != 0) ::_exit(1);
      ::_exit(locked_bytes() == std::optional<std::int64_t>{65536} ? 65 : locked_bytes() ? 2 : 3);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  };
  if (::geteuid() == 0) {
    EXPECT_EQ(said_below(65536, true), 3) << "root may lock more than its limit";
    EXPECT_EQ(said_below(65536, false), 65);
  } else {
    EXPECT_EQ(said_below(65536, true), 65);
  }
}

TEST(IsEmulated, BelievesTheSignatureBeforeTheName) {
  EXPECT_TRUE(is_emulated("TCGTCGTCGTCG", "Intel Xeon Processor (Skylake)"));
  EXPECT_FALSE(is_emulated("KVMKVMKVM", "QEMU Virtual CPU version 2.5+"));
  EXPECT_TRUE(is_emulated("", "QEMU Virtual CPU version 2.5+"));
  EXPECT_TRUE(is_emulated("", "QEMU TCG CPU version 2.5+"));
  EXPECT_FALSE(is_emulated("", "AMD EPYC 7763"));
}

TEST(RdmaProvider, NamesTheDriversThatMatter) {
  EXPECT_EQ(rdma_provider(14), "rxe");
  EXPECT_EQ(rdma_provider(18), "siw");
  EXPECT_EQ(rdma_provider(1), "mlx5");
  EXPECT_EQ(rdma_provider(4711), "driver-4711");
}

TEST(NodeFacts, DescribesThisMachine) {
  const auto facts = node_facts();
  EXPECT_EQ(facts.boot_id.size(), 36u);
  EXPECT_FALSE(facts.kernel.empty());
  EXPECT_FALSE(facts.hostname.empty());
  EXPECT_EQ(facts.cpus, ::sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_GT(facts.memory_bytes, 64 << 20);
  EXPECT_FALSE(facts.longhaul_version.empty());
  EXPECT_TRUE(facts.sysctls.contains("net.ipv4.tcp_congestion_control"));
  for (const auto& nic : facts.nics) {
    EXPECT_NE(nic.name, "lo");
    EXPECT_GT(nic.mtu, 0) << nic.name;
  }
  const auto back = node_facts_from_json(to_json(facts));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(to_json(*back), to_json(facts));
}

}  // namespace
}  // namespace longhaul::observe
