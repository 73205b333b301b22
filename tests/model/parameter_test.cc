#include "model/parameter.hh"

#include <gtest/gtest.h>

#include <stdexcept>

namespace longhaul {
namespace {

const ParameterSpec kSize{
    .name = "size", .kind = Kind::size, .help = "", .fallback = Value{64}, .min = 1, .max = 4 << 20, .choices = {}};
const ParameterSpec kOp{
    .name = "op", .kind = Kind::choice, .help = "", .fallback = {}, .choices = {"write", "send", "read"}};
const ParameterSpec kDevice{.name = "device", .kind = Kind::choice, .help = "", .fallback = {}, .choices = {}};

TEST(Parameter, ChecksRange) {
  EXPECT_EQ(parse_value(kSize, "4MiB"), Value{4 << 20});
  const auto refused = parse_value(kSize, "5MiB");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "5MiB is outside 1B to 4MiB");
}

TEST(Parameter, ChoicesSuggestTheNearest) {
  const auto refused = parse_value(kOp, "wirte");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "expected one of write, send, read, got 'wirte'; did you mean 'write'?");
}

TEST(Parameter, FreeTextCannotSmuggleOptionsOrPaths) {
  EXPECT_TRUE(parse_value(kDevice, "mlx5_0"));
  for (const auto* bad : {"", "--listen", "../x", "a b", "a;b"}) EXPECT_FALSE(parse_value(kDevice, bad)) << bad;
}

TEST(Parameter, FreeTextHoldsThePunctuationThatItsSpecAdmits) {
  const ParameterSpec policy{.name = "policy", .kind = Kind::choice, .choices = {}, .punctuation = ":="};
  EXPECT_TRUE(parse_value(policy, "mrrc:frequent=0.6"));
  const auto refused = parse_value(policy, "lru,mrrc");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "expected letters, digits, ':', '=', '_', '.' or '-', at most 200, got 'lru,mrrc'");
  EXPECT_FALSE(parse_value(policy, "-lru"));
  EXPECT_FALSE(parse_value(kDevice, "mrrc:frequent"));
}

TEST(Workload, RunsAloneWhereItsOnlyRoleIsLocal) {
  WorkloadSpec spec;
  EXPECT_FALSE(is_local(spec));
  spec.roles = {Role::client, Role::server};
  EXPECT_FALSE(is_local(spec));
  spec.roles = {Role::local};
  EXPECT_TRUE(is_local(spec));
}

TEST(Parameter, WrongTypesOfAMessageAreRefused) {
  EXPECT_FALSE(check_value(kSize, Value{"64"}));
  EXPECT_FALSE(check_value(kOp, Value{7}));
  EXPECT_FALSE(check_value(kSize, Value{0}));
}

TEST(Parameter, DefaultsApplyWhereAbsent) {
  const std::vector<ParameterSpec> specs{kSize, kOp};
  EXPECT_EQ(integer({}, specs, "size"), 64);
  EXPECT_EQ(integer({{"size", Value{128}}}, specs, "size"), 128);
  EXPECT_THROW(text({}, specs, "op"), std::out_of_range);
}

}  // namespace
}  // namespace longhaul
