// Counters of the kernel, from its text.
#include "observe/counters.hh"

#include <gtest/gtest.h>

namespace longhaul::observe {
namespace {

TEST(TcpMemory, IsFoundByItsName) {
  EXPECT_EQ(tcp_memory_pressures("TcpExt: SyncookiesSent TCPMemoryPressures TCPMemoryPressuresChrono\n"
                                 "TcpExt: 7 44 112172\nIpExt: InNoRoutes\nIpExt: 3\n"),
            44);
}

TEST(TcpMemory, OtherTextsHaveNone) {
  for (const auto* text : {"", "TcpExt: TCPMemoryPressures\n", "IpExt: TCPMemoryPressures\nIpExt: 3\n",
                           "TcpExt: TCPMemoryPressures\nTcpExt: many\n", "TcpExt: A TCPMemoryPressures\nTcpExt: 3\n"})
    EXPECT_EQ(tcp_memory_pressures(text), 0) << text;
  EXPECT_GE(tcp_memory_pressures(), 0);
}

}  // namespace
}  // namespace longhaul::observe
