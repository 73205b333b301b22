#include "common/frame.hh"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace longhaul {
namespace {

TEST(Frame, BytesAreALengthAndThePayload) {
  EXPECT_EQ(encode_frame("abc"), std::string("\0\0\0\3abc", 7));
  EXPECT_EQ(encode_frame(""), std::string("\0\0\0\0", 4));
}

TEST(Frame, SurvivesAnySplit) {
  const auto stream = encode_frame("first") + encode_frame("") + encode_frame("third");
  for (std::size_t step = 1; step <= stream.size(); ++step) {
    FrameDecoder decoder;
    std::vector<std::string> frames;
    for (std::size_t at = 0; at < stream.size(); at += step) {
      ASSERT_TRUE(decoder.feed(std::string_view{stream}.substr(at, step)));
      std::string frame;
      while (decoder.next(frame)) frames.push_back(frame);
    }
    EXPECT_EQ(frames, (std::vector<std::string>{"first", "", "third"})) << "step " << step;
    EXPECT_FALSE(decoder.partial());
  }
}

TEST(Frame, RefusesAHugeHeaderBeforeItsBody) {
  FrameDecoder decoder{1000};
  const auto refused = decoder.feed(std::string("\x40\0\0\0", 4));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("1073741824"), std::string::npos);
}

TEST(Frame, SaysWhenItEndsInTheMiddle) {
  FrameDecoder decoder;
  ASSERT_TRUE(decoder.feed(encode_frame("abc").substr(0, 5)));
  EXPECT_TRUE(decoder.partial());
  EXPECT_THROW(encode_frame(std::string(kMaxFrame + 1, 'x')), std::length_error);
}

}  // namespace
}  // namespace longhaul
