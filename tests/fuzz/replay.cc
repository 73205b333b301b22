// Runs a fuzz target over files, and over the files in folders: what libFuzzer's main does with a corpus, for builds
// without it. An input that the target cannot bear ends the process; its path was said before.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

void replay(const fs::path& file) {
  std::fprintf(stderr, "%s\n", file.c_str());
  std::ifstream in{file, std::ios::binary};
  const std::string input{std::istreambuf_iterator<char>{in}, {}};
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  int replayed = 0;
  for (int i = 1; i < argc; ++i) {
    if (!fs::is_directory(argv[i])) {
      replay(argv[i]);
      ++replayed;
      continue;
    }
    for (const auto& entry : fs::directory_iterator{argv[i]}) {
      replay(entry.path());
      ++replayed;
    }
  }
  if (replayed == 0) std::fprintf(stderr, "replay: there is no input\n");
  return replayed > 0 ? 0 : 1;
}
