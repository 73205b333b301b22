// The meaning of the names in a record: passed in by the caller, so that the results know no workload and no
// impairment.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/parameter.hh"

namespace longhaul::results {

struct Vocabulary {
  std::vector<WorkloadSpec> workloads;  ///< workloads::catalog()
  std::vector<ParameterSpec> impairment =
      {};  ///< degen::impairment_axes(); a name that is in no list is shown as it stands

  const WorkloadSpec* workload(std::string_view name) const;
  /// Looks in the common axes, the impairment's and the workload's.
  const ParameterSpec* parameter(std::string_view workload, std::string_view name) const;
  const MetricSpec* metric(std::string_view workload, std::string_view name) const;

  /// True if its cells cross no path: one process on one node. False where it is unknown.
  bool is_local(std::string_view workload) const;

  /// True if only one transport has this axis: then it tells series apart, and is no condition that two transports
  /// share.
  bool of_one_transport(std::string_view workload, std::string_view name) const;
  /// The parameters with every default filled in that the specs know.
  Parameters completed(std::string_view workload, const Parameters& parameters) const;

  /// The parameter or its default as people read it ("5ms", "write"); empty when there is neither.
  std::string spelt(std::string_view workload, const Parameters& parameters, const std::string& name) const;
  /// All of them: "delay=5ms size=1KiB".
  std::string listed(std::string_view workload, const Parameters& parameters) const;
};

}  // namespace longhaul::results
