// Which kernels a lab may be asked for.
#include "lab/kernel.hh"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "common/scratch_folder.hh"

namespace longhaul::lab {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using testing::HasSubstr;

class KernelTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "lib/modules/6.13.0-mine");
    fs::create_directories(folder_ / "elsewhere");
    std::ofstream{folder_ / "lib/modules/6.13.0-mine/modules.dep"};
    std::ofstream{folder_ / "bzImage"} << "kernel";
  }
  static std::string refusal(const KernelChoice& choice) {
    const auto settled = settle_kernel(choice);
    EXPECT_FALSE(settled);
    if (settled) return {};
    EXPECT_EQ(settled.error().exit_code, ExitCode::usage);
    return settled.error().message;
  }
  const ScratchFolder scratch_{"longhaul-kernel"};
  const fs::path folder_ = scratch_.path();
};

TEST_F(KernelTest, TakesDebiansByNameAndOnesOwnByItsFile) {
  for (const std::string name : {"", "6.1", "6.12", "6.12.107+deb12-amd64", "6.1.0-56-amd64"}) {
    const KernelChoice choice{.kernel = name, .modules = {}};
    EXPECT_EQ(settle_kernel(choice), choice);
    EXPECT_FALSE(choice.own());
    EXPECT_EQ(kernel_name(choice), name);
  }
  fs::create_symlink(folder_ / "lib/modules/6.13.0-mine", folder_ / "link");
  const auto own = settle_kernel({.kernel = folder_ / "bzImage", .modules = folder_ / "link"});
  ASSERT_TRUE(own);
  EXPECT_EQ(own->kernel, folder_ / "bzImage");
  EXPECT_EQ(own->modules, folder_ / "lib/modules/6.13.0-mine");
  EXPECT_EQ(kernel_name(*own), "6.13.0-mine");
}

TEST_F(KernelTest, OfOneReleaseAreToldApart) {
  const KernelChoice debians{.kernel = "6.13.0-mine", .modules = {}};
  const KernelChoice own{.kernel = folder_ / "bzImage", .modules = folder_ / "lib/modules/6.13.0-mine"};
  EXPECT_EQ(names_apart({.kernel = "6.12", .modules = {}}, own), std::pair("6.12"s, "6.13.0-mine"s));
  EXPECT_EQ(names_apart(debians, own), std::pair("6.13.0-mine-first"s, "6.13.0-mine-second"s));
}

TEST_F(KernelTest, RefusesTheRestWithTheRemedy) {
  EXPECT_THAT(refusal({.kernel = "bzImage", .modules = {}}), HasSubstr("--kernel bzImage: expected a series (6.12)"));
  EXPECT_THAT(refusal({.kernel = "6.*", .modules = {}}), HasSubstr("--kernel 6.*: expected"));
  EXPECT_THAT(refusal({.kernel = "6.12; rm", .modules = {}}), HasSubstr("expected a series"));
  EXPECT_THAT(refusal({.kernel = "6.12", .modules = "/lib/modules/6.12"}), HasSubstr("give its file, too"));
  EXPECT_THAT(refusal({.kernel = "", .modules = "/lib/modules/6.12"}), HasSubstr("give its file, too"));
  EXPECT_THAT(refusal({.kernel = "./nothing", .modules = folder_}), HasSubstr("--kernel ./nothing: no such file"));
  EXPECT_THAT(refusal({.kernel = folder_ / "bzImage", .modules = {}}),
              HasSubstr("where are its modules? Give --modules"));
  EXPECT_THAT(refusal({.kernel = folder_ / "bzImage", .modules = folder_ / "elsewhere"}),
              HasSubstr("elsewhere: no modules.dep in it"));
}

}  // namespace
}  // namespace longhaul::lab
