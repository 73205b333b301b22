// Lines that come through a pipe, and files in memory.
#include "common/line_reader.hh"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "common/error.hh"
#include "common/fd.hh"
#include "common/memory_file.hh"

namespace longhaul {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

void say(const Pipe& pipe, std::string_view text) {
  write_all(pipe.write_end.get(), text, "writing");
}

TEST(LineReader, CutsWhatComesIntoLines) {
  const auto pipe = make_pipe();
  LineReader lines{pipe.read_end.get()};
  EXPECT_FALSE(lines.next(0ms).value()) << "nothing came";
  say(pipe, "one\n\ntw");
  EXPECT_EQ(lines.next(0ms).value(), "one");
  EXPECT_EQ(lines.next(0ms).value(), "");
  EXPECT_FALSE(lines.next(1ms).value()) << "it is not whole";
  say(pipe, "o\nthree\n");
  EXPECT_EQ(lines.next(0ms).value(), "two");
  EXPECT_EQ(lines.next(0ms).value(), "three");
}

TEST(LineReader, TellsTheEndAndWhatIsTooLong) {
  auto pipe = make_pipe();
  LineReader lines{pipe.read_end.get(), 8};
  say(pipe, "last\nhalf");
  pipe.write_end.reset();
  EXPECT_EQ(lines.next(10s).value(), "last") << "what came before the end counts";
  EXPECT_EQ(lines.next(10s).error().message, "has ended");

  const auto other = make_pipe();
  LineReader short_ones{other.read_end.get(), 8};
  say(other, "12345678\n123456789");
  EXPECT_EQ(short_ones.next(0ms).value(), "12345678");
  EXPECT_THAT(short_ones.next(0ms).error().message, HasSubstr("more than 8 bytes"));
}

TEST(MemoryFile, IsReadWholeByThisUserAlone) {
  const auto text = std::string(200'000, 'x') + "end";
  const auto file = memory_file("test", text);
  EXPECT_EQ(file_content(file.get()), text);
  EXPECT_EQ(file_content(file.get(), 3), "xxx");
  EXPECT_EQ(file_content(file.get()), text) << "its offset does not matter";
  struct stat status {};
  ASSERT_EQ(::stat(own_path(file).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  std::ifstream by_name{own_path(file)};
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>{by_name}, {}), text);
  EXPECT_EQ(file_content(memory_file("empty").get()), "");
}

}  // namespace
}  // namespace longhaul
