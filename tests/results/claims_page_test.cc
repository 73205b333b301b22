// docs/claims.md holds the claims as the program has them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "results/claims/claim.hh"

namespace longhaul::results {
namespace {

const std::string kPage = LONGHAUL_SOURCE_DIR "/docs/claims.md";
const std::string kBegin = "<!-- claims -->\n";
const std::string kEnd = "<!-- end -->\n";

std::string text_of_claims() {
  std::string text = kBegin;
  for (const auto& claim : all_claims()) {
    text += "\n### " + claim.id + "\n" + claim.statement + "\n\n";
    text += "* Source: " + claim.source + ".\n";
    text += "* Holds when " + claim.criterion + ".\n";
    text += "* Cells: workload `" + claim.workload + "`, metric `" + claim.metric + "` along `" + claim.x + "`.\n";
    if (!claim.needs_hardware.empty())
      text += "* A software provider or an emulated processor leaves it undecided: " + claim.needs_hardware + ".\n";
  }
  return text + "\n" + kEnd;
}

// LONGHAUL_WRITE=1 writes it anew.
TEST(ClaimsPage, HasEveryClaim) {
  std::stringstream read;
  read << std::ifstream{kPage}.rdbuf();
  auto page = read.str();
  const auto begin = page.find(kBegin);
  const auto end = page.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  page.replace(begin, end + kEnd.size() - begin, text_of_claims());
  if (std::getenv("LONGHAUL_WRITE") != nullptr) std::ofstream{kPage} << page;
  EXPECT_TRUE(read.str() == page || std::getenv("LONGHAUL_WRITE") != nullptr)
      << "run LONGHAUL_WRITE=1 build/release/bin/test_results --gtest_filter=ClaimsPage.*";
}

}  // namespace
}  // namespace longhaul::results
