// A workload's parameters as command-line options: derived from its spec, nothing declared twice.
#pragma once

#include <map>
#include <string>

#include "common/result.hh"
#include "model/parameter.hh"

namespace CLI {
class App;
}

namespace longhaul::workloads {

/// The text that each option was given, by parameter name.
using OptionTexts = std::map<std::string, std::string>;

/// Adds an option per parameter: --min-samples for min_samples. `texts` must outlive the parse.
void add_options(CLI::App& app, const std::vector<ParameterSpec>& specs, OptionTexts& texts);

/// Reads the options that were given; an error names option, value and what was expected.
Result<Parameters> read_options(const CLI::App& app, const std::vector<ParameterSpec>& specs, const OptionTexts& texts);

}  // namespace longhaul::workloads
