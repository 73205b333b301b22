#include "results/report/small_page.hh"

#include "common/replace_file.hh"
#include "results/report/assets.hh"

namespace longhaul::results {

std::string small_page(Page page) {
  page.scripts = std::string{assets::scale_js()} + std::string{assets::small_js()} + page.scripts;
  return standalone(page);
}

Result<std::vector<std::filesystem::path>> write_page(const std::filesystem::path& directory, const std::string& name,
                                                      const PageAndDocument& content) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return refuse("{}: {}", directory.string(), error.message());
  std::vector<std::filesystem::path> files{directory / (name + ".html"), directory / (name + ".json")};
  if (auto ok = replace_file(files[0], content.page); !ok) return tl::unexpected(ok.error());
  if (auto ok = replace_file(files[1], content.document + '\n'); !ok) return tl::unexpected(ok.error());
  return files;
}

}  // namespace longhaul::results
