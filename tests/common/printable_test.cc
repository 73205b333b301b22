#include "common/printable.hh"

#include <gtest/gtest.h>

#include <string>

namespace longhaul {
namespace {

TEST(Printable, PlainTextStaysAsItIs) {
  EXPECT_EQ(printable("rdma rxe: 5 ms, \"quoted\" \\ Größe 語 😀\tend"),
            "rdma rxe: 5 ms, \"quoted\" \\ Größe 語 😀\tend");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, WhatATerminalObeysIsShownInstead) {
  EXPECT_EQ(printable("\x1b]0;title\x07\x1b[2J"), "\\x1b]0;title\\x07\\x1b[2J");
  EXPECT_EQ(printable(std::string_view{"a\0b\rc\x7f", 6}), "a\\x00b\\x0dc\\x7f");
  EXPECT_EQ(printable("\u009b31m"), "\\u009b31m") << "a control sequence in one character";
  EXPECT_EQ(printable("safe\u202egpj.exe\u2066\u200f"), "safe\\u202egpj.exe\\u2066\\u200f");
}

TEST(Printable, WhatIsNoUtf8IsShownByteByByte) {
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m")
      << "C1 of an 8-bit terminal";
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b") << "longer than it must be";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond the last character";
  EXPECT_EQ(printable("cut \xe8\xaa"), "cut \\xe8\\xaa");
}

TEST(Printable, AForgedLineIsSeenToBePartOfAnother) {
  EXPECT_EQ(printable("it said: x\n2026-01-01 agent info: all is well"),
            "it said: x\n    2026-01-01 agent info: all is well");
}

TEST(Printable, ATableOfOursKeepsItsLines) {
  EXPECT_EQ(printable_document("cell  median\na\x1b[2J  3\n"), "cell  median\na\\x1b[2J  3\n");
}

}  // namespace
}  // namespace longhaul
