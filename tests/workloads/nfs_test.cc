// The kernel's NFS as a workload: what its client counts, and reads and writes past the page cache. The rest needs the
// kernel (tests/lab/compact_nfs_test.cc).
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "workloads/protocols/rpc/kernel.hh"
#include "workloads/protocols/rpc/store.hh"
#include "workloads/suite/catalog.hh"
#include "workloads/suite/nfs/direct_io.hh"
#include "workloads/suite/nfs/mountstats.hh"
#include "workloads/suite/rpc/kernel.hh"

namespace longhaul::workloads::nfs {
namespace {

using testing::HasSubstr;

// Of a lab's client, shortened.
constexpr const char* kMountstats = R"(device rootfs mounted on / with fstype rootfs
device 10.20.0.1:/srv mounted on /other with fstype nfs statvers=1.1
	xprt:	tcp 0 0 1 0 0 9 9 0 9 0 2 0 0
	per-op statistics
	        READ: 7 8 0 0 0 0 0 0 0
device 10.20.0.1:/srv mounted on /mnt with fstype nfs statvers=1.1
	opts:	rw,vers=3,rsize=1048576,proto=rdma
	xprt:	rdma 0 0 1 0 0 143 143 0 154 0 5 132 0 16908288 16777216 0 0 0 0 0 0 0 0 11 0 0 0
	per-op statistics
	        NULL: 1 1 0 44 24 0 0 0 0
	        READ: 64 66 0 8448 8396800 0 0 0 0
	       WRITE: 0 0 0 0 0 0 0 0 0
)";

TEST(Mountstats, TellsOfOneMount) {
  const auto found = read_mountstats(kMountstats, "/mnt", "READ");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->protocol, "rdma");
  EXPECT_EQ(found->calls, 64U);
  EXPECT_EQ(found->transmissions, 66U);
  EXPECT_EQ(found->chunks, 137U);
  const auto other = read_mountstats(kMountstats, "/other", "READ");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->protocol, "tcp");
  EXPECT_EQ(other->calls, 7U);
  EXPECT_EQ(other->chunks, 0U);
  EXPECT_EQ(read_mountstats(kMountstats, "/mnt", "WRITE")->calls, 0U);
  EXPECT_EQ(read_mountstats(kMountstats, "/mnt", "COMMIT")->calls, 0U);
  EXPECT_FALSE(read_mountstats(kMountstats, "/mn", "READ"));
  EXPECT_FALSE(read_mountstats("", "/mnt", "READ"));
}

class DirectIoTest : public testing::Test {
 protected:
  DirectIoTest() {
    std::vector<std::byte> content(kThreads * kSize);
    rpc::fill_content(content, 0);
    std::ofstream{path_, std::ios::binary}.write(reinterpret_cast<const char*>(content.data()),
                                                 static_cast<std::streamsize>(content.size()));
  }
  ~DirectIoTest() override { std::filesystem::remove(path_); }
  void SetUp() override {
    const int fd = ::open(path_.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (fd < 0) GTEST_SKIP() << "this folder's file system has no direct I/O";
    ::close(fd);
  }
  static void finish(DirectIo& io, std::size_t thread) {
    while (!io.done(thread)) io.progress();
  }
  static constexpr std::size_t kThreads = 3;
  static constexpr std::size_t kSize = 8192;
  const std::string path_ = std::string{LONGHAUL_BINARY_DIR} + "/direct_io_" + std::to_string(::getpid());
};

TEST_F(DirectIoTest, EachThreadReadsItsOwnPart) {
  DirectIo io{path_, DirectIo::Way::read, kThreads, kSize};
  for (std::size_t i = 0; i < kThreads; ++i) io.start(i);
  for (std::size_t i = 0; i < kThreads; ++i) {
    finish(io, i);
    EXPECT_EQ(rpc::content_fault(io.buffer(i), io.offset(i)), "") << i;
  }
}

TEST_F(DirectIoTest, WritesArriveInTheFile) {
  {
    DirectIo io{path_, DirectIo::Way::write, kThreads, kSize};
    std::ranges::fill(io.buffer(1), std::byte{7});
    io.start(1);
    finish(io, 1);
  }
  std::ifstream file{path_, std::ios::binary};
  std::string all{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(all.substr(kSize, kSize), std::string(kSize, 7));
  EXPECT_EQ(all.size(), kThreads * kSize);
}

TEST_F(DirectIoTest, AThreadCanSleepUntilOneIsDone) {
  DirectIo io{path_, DirectIo::Way::read, kThreads, kSize};
  EXPECT_FALSE(io.arm()) << "nothing is under way: there is nothing to wait for";
  for (std::size_t i = 0; i < kThreads; ++i) io.start(i);
  if (io.arm()) {
    EXPECT_TRUE(
        wait_for(io.event_fd(), static_cast<short>(io.wait_events()), Patience::of(std::chrono::seconds{5}, -1)));
    EXPECT_FALSE(io.arm());
  }
  for (std::size_t i = 0; i < kThreads; ++i) finish(io, i);
  EXPECT_TRUE(io.arm()) << "of all that is done its threads know";
}

TEST_F(DirectIoTest, LessThanAllOfItIsAnError) {
  DirectIo io{path_, DirectIo::Way::read, kThreads + 1, kSize};
  io.start(kThreads);  // beyond the file's end
  EXPECT_THAT([&] { finish(io, kThreads); }, testing::ThrowsMessage<std::runtime_error>(HasSubstr("0 of 8192 bytes")));
  EXPECT_THROW((DirectIo{path_ + "-none", DirectIo::Way::read, 1, kSize}), std::system_error);
}

TEST(NfsSpec, WhatIsForeseen) {
  const auto* spec = find_workload("nfs");
  const auto foreseen = [&](Parameters parameters) {
    parameters["delay"] = Value{5'000'000};
    return spec->predict(parameters).value_or(0) / 5e6;
  };
  EXPECT_EQ(foreseen({{"transport", Value{"rdma"}}}), 2);
  EXPECT_EQ(foreseen({{"transport", Value{"tcp"}}, {"procedure", Value{"write"}}}), 2);
  EXPECT_EQ(foreseen({{"transport", Value{"rdma"}}, {"procedure", Value{"write"}}}), 4) << "the server fetches it";
  EXPECT_EQ(foreseen({{"transport", Value{"rdma"}}, {"procedure", Value{"write"}}, {"transfer", Value{65536}}}), 6)
      << "and COMMIT";
  EXPECT_FALSE(spec->predict({}));
}

TEST(KernelServer, HandlesAreDigits) {
  const auto handle = rpc::handle_of("0100010007ff");
  EXPECT_EQ(handle.size, 6U);
  EXPECT_EQ(handle.bytes[5], std::byte{0xff});
  for (const std::string& digits : {std::string{}, std::string{"123"}, std::string{"0g"}, std::string{"0x"},
                                    std::string(2 * rpc::nfs::kMostHandle + 2, '0')})
    EXPECT_THROW(rpc::handle_of(digits), std::runtime_error) << digits;
}

TEST(KernelServer, SaysWhatItCannotDo) {
  EXPECT_EQ(rpc::kernel_lacks({}), "");
  EXPECT_THAT(rpc::kernel_lacks({.design = rpc::Design::read_read}), HasSubstr("--design read-write"));
  EXPECT_EQ(rpc::kernel_lacks({.procedure = rpc::nfs::Procedure::readlink, .size = 4095}), "");
  EXPECT_THAT(rpc::kernel_lacks({.procedure = rpc::nfs::Procedure::readlink, .size = 4096}), HasSubstr("4095"));
}

}  // namespace
}  // namespace longhaul::workloads::nfs
