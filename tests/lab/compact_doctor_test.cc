// `longhaul doctor` on a testbed that is well, and on one that is not.
#include "tests/lab/compact.hh"

namespace longhaul::testing {
namespace {

class DoctorTest : public CompactLab {};

Outcome doctor(const std::string& inventory) {
  return longhaul({"doctor", "--inventory", inventory});
}

TEST_F(DoctorTest, AHealthyTestbedAndABrokenOne) {
  const auto well = doctor(lab().inventory());
  EXPECT_EQ(well.code, 0) << well.out << well.err;
  EXPECT_NE(well.out.find("nothing is missing"), std::string::npos) << well.out;
  EXPECT_NE(well.out.find("10 packets went and came back"), std::string::npos) << well.out;

  lab().must("client", "rdma link delete rxe_a0 && ip link set dev a1 mtu 1400");
  const auto ill = longhaul({"doctor", "--inventory", lab().inventory(), "--json"});
  lab().must("client", "rdma link add rxe_a0 type rxe netdev a0 && ip link set dev a1 mtu 1500");
  EXPECT_EQ(ill.code, 1) << ill.out << ill.err;
  EXPECT_NE(ill.out.find("rdma link add rxe_a0 type rxe netdev a0"), std::string::npos) << ill.out;
  EXPECT_NE(ill.out.find("the MTUs on path wan differ"), std::string::npos) << ill.out;
  EXPECT_NE(ill.out.find("\"healthy\":false"), std::string::npos) << ill.out;
  const auto again = doctor(lab().inventory());
  EXPECT_EQ(again.code, 0) << again.out << again.err;
}

TEST_F(DoctorTest, ANodeThatDoesNotAnswer) {
  const TemporaryDirectory scratch;
  auto inventory = read_file(lab().inventory());
  const auto port = inventory.find("longhaul_port: ") + 15;
  inventory.replace(port, inventory.find_first_not_of("0123456789", port) - port, "1");
  write_file(scratch.path() / "inventory.yml", inventory);
  const auto outcome = doctor(scratch.path() / "inventory.yml");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.out.find("does not answer"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("is longhaul-agent running there, on port 1 "), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace longhaul::testing
