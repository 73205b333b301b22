// Pages that draw one document (simulate.html, compare.html, history.html): what they have in common.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/result.hh"
#include "results/report/template.hh"

namespace longhaul::results {

/// standalone(), with the scripts that such pages share before their own.
std::string small_page(Page page);

struct PageAndDocument {
  std::string page;
  std::string document;  ///< JSON, without a line's end
};
/// Writes NAME.html and NAME.json into `directory`, which it makes; returns their paths.
Result<std::vector<std::filesystem::path>> write_page(const std::filesystem::path& directory, const std::string& name,
                                                      const PageAndDocument& content);

}  // namespace longhaul::results
