#include "common/csv.hh"

#include <gtest/gtest.h>

namespace longhaul {
namespace {

TEST(CsvField, IsQuotedWhereALineCouldBeMisread) {
  EXPECT_EQ(csv_field(""), "");
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("a \"b\""), "\"a \"\"b\"\"\"");
  EXPECT_EQ(csv_field("a\nb"), "\"a\nb\"");
}

TEST(CsvField, NeverBeginsAFormula) {
  EXPECT_EQ(csv_field("=1+1"), "'=1+1");
  EXPECT_EQ(csv_field("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(csv_field("+1+cmd|'/C calc'!A0"), "'+1+cmd|'/C calc'!A0");
  EXPECT_EQ(csv_field("-2-3"), "'-2-3");
  EXPECT_EQ(csv_field("\t=1"), "'\t=1");
  EXPECT_EQ(csv_field("\r=1"), "\"'\r=1\"");
  EXPECT_EQ(csv_field("\n=1"), "\"'\n=1\"");
  EXPECT_EQ(csv_field("=HYPERLINK(\"x\",1)"), "\"'=HYPERLINK(\"\"x\"\",1)\"");
  EXPECT_EQ(csv_field("-"), "'-");
  EXPECT_EQ(csv_field("-inf"), "'-inf");
  EXPECT_EQ(csv_field("+-1"), "'+-1");
  EXPECT_EQ(csv_field("-0x1"), "'-0x1");
}

TEST(CsvField, NumbersStayNumbers) {
  for (const auto* number : {"-0.5", "+7", "-1e-9", "-12", "0"}) EXPECT_EQ(csv_field(number), number);
}

}  // namespace
}  // namespace longhaul
