// What the preloaded cache decides, without a program.
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <sys/mman.h>

#include <map>

#include "registration/preload/admission.hh"
#include "registration/preload/settings.hh"
#include "registration/preload/statistics.hh"

namespace longhaul::registration {
namespace {

using Variables = std::map<std::string, std::string>;

Result<Settings> settings(const Variables& variables, std::uint64_t locked = std::uint64_t{1} << 30) {
  return parse_settings(
      [&](const char* name) -> const char* {
        const auto it = variables.find(name);
        return it == variables.end() ? nullptr : it->second.c_str();
      },
      locked);
}

TEST(PreloadSettings, WithoutAnyItIsOnAndKeepsWhatOnlyTheProgramReaches) {
  const auto some = settings({}).value();
  EXPECT_TRUE(some.on);
  EXPECT_FALSE(some.remote);
  EXPECT_FALSE(some.shared);
  EXPECT_EQ(some.reach, Settings::Reach::asked);
  EXPECT_EQ(some.unmapping, Executor::Unmapping::by_any_thread);
  EXPECT_EQ(some.bytes, 256U << 20);
  EXPECT_EQ(settings({}, 64 << 20).value().bytes, 32U << 20) << "half of what may be locked";
  EXPECT_EQ(settings({}, 0).value().bytes, kPageSize);
}

TEST(PreloadSettings, EachVariableSaysItsPart) {
  const auto some = settings({{"LONGHAUL_CACHE", "off"},
                              {"LONGHAUL_CACHE_BYTES", "3GiB"},
                              {"LONGHAUL_CACHE_REGIONS", "17"},
                              {"LONGHAUL_CACHE_POLICY", "mrrc:frequent=0.6"},
                              {"LONGHAUL_CACHE_REMOTE", "1"},
                              {"LONGHAUL_CACHE_SHARED", "1"},
                              {"LONGHAUL_CACHE_REACH", "pages"},
                              {"LONGHAUL_CACHE_UNMAPPING", "own"},
                              {"LONGHAUL_CACHE_STATS", "/tmp/cache-%p.json"},
                              {"LONGHAUL_CACHE_SOCKET", "/run/cache-%p"}})
                        .value();
  EXPECT_FALSE(some.on);
  EXPECT_EQ(some.bytes, std::uint64_t{3} << 30);
  EXPECT_EQ(some.regions, 17U);
  EXPECT_TRUE(some.remote && some.shared);
  EXPECT_EQ(some.reach, Settings::Reach::pages);
  EXPECT_EQ(some.unmapping, Executor::Unmapping::by_this_thread);
  EXPECT_EQ(with_process(some.statistics, 42), "/tmp/cache-42.json");
  const auto setup = cache_setup(some).value();
  EXPECT_EQ(setup.capacity.pages, 3U << 18);
  EXPECT_EQ(setup.capacity.regions, 17U);
}

TEST(PreloadSettings, AWrongValueIsRefusedWithWhatIsPossible) {
  const std::pair<Variables, std::string> wrong[] = {
      {{{"LONGHAUL_CACHE", "yes"}}, "LONGHAUL_CACHE: 'yes' is neither off nor on"},
      {{{"LONGHAUL_CACHE_BYTES", "12 apples"}}, "LONGHAUL_CACHE_BYTES: '12 apples' is no size"},
      {{{"LONGHAUL_CACHE_BYTES", "0"}}, "is no size"},
      {{{"LONGHAUL_CACHE_BYTES", "99999999999TiB"}}, "is no size"},
      {{{"LONGHAUL_CACHE_REGIONS", "0"}}, "LONGHAUL_CACHE_REGIONS: '0' is no number from 1 to 1048576"},
      {{{"LONGHAUL_CACHE_POLICY", "lrv"}}, "did you mean 'lru'?"},
      {{{"LONGHAUL_CACHE_POLICY", "none"}}, "LONGHAUL_CACHE=off"},
      {{{"LONGHAUL_CACHE_POLICY", "fmrd"}}, "single pages"},
      {{{"LONGHAUL_CACHE_POLICY", "lru,mrrc"}}, "one is wanted"},
      {{{"LONGHAUL_CACHE_REMOTE", "2"}}, "LONGHAUL_CACHE_REMOTE: '2' is neither 0 nor 1"},
      {{{"LONGHAUL_CACHE_REACH", "far"}}, "LONGHAUL_CACHE_REACH: 'far' is neither asked nor pages"},
      {{{"LONGHAUL_CACHE_UNMAPPING", "all"}}, "LONGHAUL_CACHE_UNMAPPING: 'all' is neither any nor own"}};
  for (const auto& [variables, said] : wrong) {
    const auto some = settings(variables);
    ASSERT_FALSE(some) << said;
    EXPECT_NE(some.error().message.find(said), std::string::npos) << some.error().message;
  }
}

TEST(PreloadSettings, AProgramSaysTheSameInOneLine) {
  const auto some = parse_settings("bytes=1MiB,policy=lru,reach=pages", 0).value();
  EXPECT_EQ(some.bytes, 1U << 20);
  EXPECT_EQ(some.policy, "lru");
  EXPECT_EQ(some.reach, Settings::Reach::pages);
  EXPECT_FALSE(parse_settings("bites=1MiB", 0));
  EXPECT_FALSE(parse_settings("bytes", 0));
  EXPECT_FALSE(parse_settings("bytes=x", 0));
}

TEST(PreloadAdmission, ByWhatARequestSays) {
  constexpr unsigned local = IBV_ACCESS_LOCAL_WRITE;
  EXPECT_EQ(admit(4096, 1, 4096, local, false), Admission::keep);
  EXPECT_EQ(admit(4096, 1, 4096, 0, false), Admission::keep);
  EXPECT_EQ(admit(4096, 1, 4096, local | IBV_ACCESS_RELAXED_ORDERING, false), Admission::keep);
  EXPECT_EQ(admit(4096, 0, 4096, local, false), Admission::range);
  EXPECT_EQ(admit(0, SIZE_MAX, 0, local | IBV_ACCESS_ON_DEMAND, false), Admission::range);
  EXPECT_EQ(admit(4096, SIZE_MAX, 4096, local, false), Admission::range);
  EXPECT_EQ(admit(4096, 1, 0, local, false), Admission::address);
  for (const unsigned flag : {IBV_ACCESS_ON_DEMAND, IBV_ACCESS_ZERO_BASED, IBV_ACCESS_HUGETLB, IBV_ACCESS_MW_BIND})
    EXPECT_EQ(admit(4096, 1, 4096, local | flag, true), Admission::flags);
  EXPECT_EQ(admit(4096, 1, 4096, local | 1 << 8, true), Admission::flags) << "a flag of the future";
  for (const unsigned flag : {IBV_ACCESS_REMOTE_READ, IBV_ACCESS_REMOTE_WRITE, IBV_ACCESS_REMOTE_ATOMIC}) {
    EXPECT_EQ(admit(4096, 1, 4096, local | flag, false), Admission::remote);
    EXPECT_EQ(admit(4096, 1, 4096, local | flag, true), Admission::keep);
  }
}

TEST(PreloadAdmission, KernelsThatCopyRegisteredPagesForChildren) {
  for (const char* release : {"5.12.0", "5.12", "6.1.0-18-amd64", "10.0.1"})
    EXPECT_TRUE(copies_registered_pages(release));
  for (const char* release : {"5.11.22", "4.19.0", "", "linux", "5.", "5.x"})
    EXPECT_FALSE(copies_registered_pages(release)) << release;
}

bool is_private(std::uint64_t first, std::uint64_t end, std::initializer_list<const char*> lines) {
  PrivateMemory memory{first, end};
  for (const auto* line : lines)
    if (!memory.line(line)) break;
  return memory.yes();
}

TEST(PreloadAdmission, PrivateAnonymousMemory) {
  const char* heap = "1000-3000 rw-p 00000000 00:00 0                          [heap]";
  const char* more = "3000-8000 rw-p 00000000 00:00 0 ";
  const char* file = "8000-9000 rw-p 00000000 fe:00 1234    /usr/lib/some.so";
  const char* shared = "9000-a000 rw-s 00000000 00:01 77    /memfd:x (deleted)";
  const char* huge = "a000-b000 rw-p 00000000 00:0f 99    /anon_hugepage (deleted)";
  EXPECT_TRUE(is_private(0x1000, 0x3000, {heap, more}));
  EXPECT_TRUE(is_private(0x2000, 0x8000, {heap, more, file}));
  EXPECT_TRUE(is_private(0x3000, 0x4000, {heap, more}));
  EXPECT_FALSE(is_private(0x7000, 0x9000, {heap, more, file}));
  EXPECT_FALSE(is_private(0x9000, 0xa000, {heap, more, file, shared}));
  EXPECT_FALSE(is_private(0xa000, 0xb000, {huge}));
  EXPECT_FALSE(is_private(0x2000, 0x5000, {heap, "4000-8000 rw-p 00000000 00:00 0"})) << "a gap";
  EXPECT_FALSE(is_private(0x7000, 0x9000, {heap, more})) << "it ends before";
  EXPECT_FALSE(is_private(0x1000, 0x2000, {"nonsense"}));
}

TEST(PreloadAdmission, MemoryOfThisProcess) {
  const auto map = [](int flags) {
    return reinterpret_cast<std::uint64_t>(
        ::mmap(nullptr, 4 * kPageSize, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0));
  };
  const auto own = map(MAP_PRIVATE);
  EXPECT_TRUE(is_private_memory(own, own + 4 * kPageSize));
  const auto others = map(MAP_SHARED);
  EXPECT_FALSE(is_private_memory(others, others + kPageSize));
  ::munmap(reinterpret_cast<void*>(own), 4 * kPageSize);
  EXPECT_FALSE(is_private_memory(own, own + kPageSize));
  ::munmap(reinterpret_cast<void*>(others), 4 * kPageSize);
}

TEST(PreloadStatistics, AreTextAndJson) {
  Statistics some;
  some.hits = 3;
  some.misses = 1;
  some.passed_by[static_cast<std::size_t>(Admission::remote)] = 7;
  EXPECT_NE(to_text(some, "").find("3 hits of 4 registrations that may be kept (75.0 %)"), std::string::npos);
  EXPECT_NE(to_text(some, "").find("passed by: remote 7\n"), std::string::npos);
  EXPECT_NE(to_text(some, "no userfaultfd").find("nothing is kept: no userfaultfd\n"), std::string::npos);
  EXPECT_EQ(to_json(some, "", 5),
            "{\"process\": 5, \"off\": null, \"hits\": 3, \"misses\": 1, \"deregistered\": 0, \"evicted\": 0, "
            "\"invalidated\": 0, \"flushed\": 0, \"out_of_memory\": 0, \"failed\": 0, \"regions\": 0, \"bytes\": 0, "
            "\"passed_by\": {\"range\": 0, \"address\": 0, \"flags\": 0, \"remote\": 7, \"shared\": 0, "
            "\"unwatched\": 0, \"busy\": 0, \"fork\": 0}}\n");
  EXPECT_NE(to_json(some, "a \"word\"\n", 5).find(R"("off": "a \"word\"\u000a")"), std::string::npos);
}

}  // namespace
}  // namespace longhaul::registration
