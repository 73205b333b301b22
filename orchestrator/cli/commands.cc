#include "orchestrator/cli/commands.hh"

#include <boost/json.hpp>
#include <cstdio>

#include "common/printable.hh"
#include "degen/impairment/spec.hh"
#include "model/cell.hh"
#include "workloads/suite/catalog.hh"

namespace longhaul::orchestrator {

Vocabulary campaign_vocabulary() {
  return {.common = common_axes(), .impairment = degen::impairment_axes(), .workloads = workloads::catalog()};
}

results::Vocabulary results_vocabulary() {
  return {.workloads = workloads::catalog(), .impairment = degen::impairment_axes()};
}

int report_error(const Error& error, bool as_json) {
  if (as_json) {
    const boost::json::object document{{"error", error.message}, {"exit_code", static_cast<int>(error.exit_code)}};
    fmt::print("{}\n", boost::json::serialize(document));
  } else {
    fmt::print(stderr, "longhaul: {}\n", printable(error.message));
  }
  return static_cast<int>(error.exit_code);
}

void tell(bool as_json, const std::function<std::string()>& json, const std::function<std::string()>& text,
          const std::vector<std::filesystem::path>& files) {
  const auto document = as_json ? json() : printable_document(text());
  fmt::print("{}{}", document, document.ends_with('\n') ? "" : "\n");
  if (as_json) return;
  for (const auto& file : files) fmt::print("{}\n", file.string());
}

}  // namespace longhaul::orchestrator
