// Lines that come through a pipe, and files in memory.
#include "common/line_reader.hh"

#include <fcntl.h>
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

struct Pipe {
  OwnFd read, write;
  Pipe() {
    int ends[2];
    check(::pipe2(ends, O_CLOEXEC), "making a pipe");
    read = OwnFd{ends[0]};
    write = OwnFd{ends[1]};
  }
  void say(std::string_view text) const { write_all(write.get(), text, "writing"); }
};

TEST(LineReader, CutsWhatComesIntoLines) {
  const Pipe pipe;
  LineReader lines{pipe.read.get()};
  EXPECT_FALSE(lines.next(0ms).value()) << "nothing came";
  pipe.say("one\n\ntw");
  EXPECT_EQ(lines.next(0ms).value(), "one");
  EXPECT_EQ(lines.next(0ms).value(), "");
  EXPECT_FALSE(lines.next(1ms).value()) << "it is not whole";
  pipe.say("o\nthree\n");
  EXPECT_EQ(lines.next(0ms).value(), "two");
  EXPECT_EQ(lines.next(0ms).value(), "three");
}

TEST(LineReader, TellsTheEndAndWhatIsTooLong) {
  Pipe pipe;
  LineReader lines{pipe.read.get(), 8};
  pipe.say("last\nhalf");
  pipe.write.reset();
  EXPECT_EQ(lines.next(10s).value(), "last") << "what came before the end counts";
  EXPECT_EQ(lines.next(10s).error().message, "has ended");

  const Pipe other;
  LineReader short_ones{other.read.get(), 8};
  other.say("12345678\n123456789");
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
