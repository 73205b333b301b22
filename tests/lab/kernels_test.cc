// Labs of other kernels, as a user asks for them: Debian's by name, and one of one's own by its file.
#include <gtest/gtest.h>

#include "lab/image.hh"
#include "tests/lab/lab_fixture.hh"

namespace longhaul::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOnTwoKernels = R"(name: kernels
workload: latency
series: [{transport: rdma, provider: rxe}, {transport: rdma, provider: siw}, {transport: tcp, rival: rxe}]
axes: {size: [1KiB]}
fixed: {delay: 1ms, duration: 25ms, min_samples: 2, warmup: 0}
repeat: {min: 6, max: 6}
)";

// apt-cache's word, not a download: where the mirror's packages are known, they are expected to come.
bool knows_two_kernels() {
  for (const auto* series : {"6[.]1[.]", "6[.]12[.]"})
    if (run_program({"apt-cache", "search", "--names-only", "^linux-headers-" + std::string{series} + ".*-amd64$"})
            .out.empty())
      return false;
  return true;
}

TEST(Kernels, TwoOfDebiansAreComparedByOneCommand) {
  if (!knows_two_kernels())
    GTEST_SKIP() << "apt does not know both a kernel 6.1 and a kernel 6.12 (bookworm-backports)";
  const TemporaryDirectory directory;
  write_file(directory.path() / "kernels.yaml", kOnTwoKernels);
  const auto out = directory.path() / "out";
  const std::vector<std::string> command{"kernels", directory.path() / "kernels.yaml", "6.1", "6.12", "--out", out};
  const auto made = longhaul(command);
  ASSERT_EQ(made.code, 0) << made.out << made.err;
  EXPECT_NE(made.out.find("compared in pairs: runs of the same seed"), std::string::npos) << made.out;

  const auto comparison = boost::json::parse(read_file(out / "compare.json"));
  EXPECT_EQ(comparison.at("kernels").at(0).as_string().find("6.1.0-"), 0U) << comparison;
  EXPECT_EQ(comparison.at("kernels").at(1).as_string().find("6.12."), 0U) << comparison;
  EXPECT_EQ(comparison.at("changes").as_array().size(), 3U) << comparison;
  for (const auto& change : comparison.at("changes").as_array()) {
    EXPECT_EQ(change.at("cells").to_number<int>(), 1);
    EXPECT_EQ(change.at("undecided").to_number<int>(), 0) << change;
    // Two kernels, one path of 2 ms: no more than a tenth apart, and never the same to the last bit.
    EXPECT_NEAR(change.at("median").to_number<double>(), 1, 0.1) << change;
  }
  EXPECT_LT(comparison.at("identical").to_number<int>(), comparison.at("exact").to_number<int>() / 2);
  EXPECT_NE(read_file(out / "compare.html").find("What does Linux 6.12."), std::string::npos);

  // What was made is made again on the kernel that the manifest names, and gone on with on no other.
  const auto verified = longhaul({"verify", out / "6.12", "--cells", "1"});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
  const auto mixed = longhaul({"run", directory.path() / "kernels.yaml", "--lab", "--clock", "virtual", "--resume",
                               "--kernel", "6.1", "--out", out / "6.12"});
  EXPECT_EQ(mixed.code, 2);
  EXPECT_NE(mixed.err.find("it was begun with kernel 6.12."), std::string::npos) << mixed.err;
  auto again = command;
  again.emplace_back("--resume");
  const auto before = read_file(out / "compare.json");
  const auto resumed = longhaul(again);
  EXPECT_EQ(resumed.code, 0) << resumed.out << resumed.err;
  EXPECT_EQ(read_file(out / "compare.json"), before);
}

TEST(Kernels, OnesOwnBootsFromItsFile) {
  const auto image = lab::build_image({});
  ASSERT_TRUE(image) << image.error().message;
  const auto kernel = fs::path{image->kernel}.parent_path();
  const auto headers = fs::path{"/usr/src/linux-headers-" + image->release};
  ASSERT_TRUE(fs::exists(headers));
  // Debian's as if it were one's own: a file, and what `make modules_install` leaves.
  const TemporaryDirectory directory;
  const auto modules = directory.path() / "lib/modules" / image->release;
  fs::create_directories(modules.parent_path());
  fs::copy(kernel / "modules", modules, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  fs::remove(modules / "build");
  write_file(directory.path() / "kernels.yaml", kOnTwoKernels);
  const auto run = [&](const fs::path& out, const std::vector<std::string>& more) {
    std::vector<std::string> command{"run", directory.path() / "kernels.yaml", "--lab", "--clock", "virtual", "--out",
                                     out};
    command.insert(command.end(), more.begin(), more.end());
    return longhaul(command);
  };
  const std::vector<std::string> own{"--kernel", kernel / "bzImage", "--modules", modules};
  const auto treeless = run(directory.path() / "none", own);
  EXPECT_EQ(treeless.code, 1);
  EXPECT_NE(treeless.err.find("its link build names no build tree"), std::string::npos) << treeless.err;

  // A tree in which another kernel has been built since these modules were made.
  const auto tree = directory.path() / "tree";
  fs::create_directories(tree / "include/generated");
  write_file(tree / "Makefile", "");
  write_file(tree / "include/generated/utsrelease.h", "#define UTS_RELEASE \"6.12.1-mine\"\n");
  fs::create_symlink(tree, modules / "build");
  const auto another = run(directory.path() / "another", own);
  EXPECT_EQ(another.code, 1);
  EXPECT_NE(another.err.find("its build tree has been configured as kernel 6.12.1-mine since"), std::string::npos)
      << another.err;
  fs::remove(modules / "build");

  fs::create_symlink(headers, modules / "build");
  // Beside Debian's of the same release, as a kernel in which one line has been changed is. Here none has.
  const auto word = (kernel / "bzImage").string() + ":" + modules.string();
  const auto both = directory.path() / "both";
  const auto made =
      longhaul({"kernels", directory.path() / "kernels.yaml", image->release, word, "--out", both.string()});
  ASSERT_EQ(made.code, 0) << made.out << made.err;
  const auto mine = both / (image->release + "-second");
  const auto manifest = boost::json::parse(read_file(mine / "manifest.json"));
  EXPECT_EQ(manifest.at("lab_kernel").as_string(), image->release);
  EXPECT_NE(manifest.at("command").as_string().find("--modules " + modules.string()), std::string::npos) << manifest;
  const auto cells = read_csv(mine / "cells.csv", "latency");
  EXPECT_EQ(cells.size(), 3U);
  for (const auto& cell : cells) EXPECT_EQ(cell.at("status"), "ok");
  const auto comparison = boost::json::parse(read_file(both / "compare.json"));
  EXPECT_EQ(comparison.at("changes").as_array().size(), 3U) << comparison;
  // Not the same bits: what the builder made of either lies elsewhere in memory.
  for (const auto& change : comparison.at("changes").as_array())
    EXPECT_NEAR(change.at("median").to_number<double>(), 1, 0.01) << change;

  const auto itself = longhaul({"kernels", directory.path() / "kernels.yaml", word, word, "--out", both / "itself"});
  EXPECT_EQ(itself.code, 2);
  EXPECT_NE(itself.err.find("are the same kernel, " + image->release), std::string::npos) << itself.err;

  for (const std::vector<std::string>& how :
       std::vector<std::vector<std::string>>{{"run", "--lab", "--out", directory.path() / "unknown"},
                                             {"explore", "--out", directory.path() / "unknown"},
                                             {"inject"}}) {
    auto command = how;
    command.insert(command.end(), {"--kernel", "5.4", directory.path() / "kernels.yaml"});
    const auto unknown = longhaul(command);
    EXPECT_EQ(unknown.code, 1);
    EXPECT_NE(unknown.err.find("Debian has no kernel 5.4 here"), std::string::npos) << unknown.err;
  }
}

}  // namespace
}  // namespace longhaul::testing
