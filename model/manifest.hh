// The manifest: what a campaign was, whole enough to run it again. Written to DIR/manifest.json, kept in the store.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/cell.hh"
#include "model/testbed.hh"
#include "model/virtual_clock.hh"

namespace longhaul {

struct PlannedCell {
  std::string cell_id;
  std::string workload;
  Parameters parameters;  ///< defaults left out
};
BOOST_DESCRIBE_STRUCT(PlannedCell, (), (cell_id, workload, parameters))

struct Manifest {
  int schema = kRecordSchema;
  std::string name;  ///< the campaign's
  std::string description;
  std::string campaign_file;  ///< as the user named it
  std::string campaign_text;  ///< verbatim; --resume refuses another
  std::uint64_t seed = 0;
  std::string version;  ///< of longhaul: number, commit, dirty flag
  std::string command;  ///< that reruns it
  Testbed testbed;      ///< where there are several, the first
  std::vector<PlannedCell> cells;
  int repetitions_min = 6;
  int repetitions_max = 6;
  std::int64_t started = 0;    ///< CLOCK_REALTIME ns
  std::int64_t finished = 0;   ///< 0: not finished
  std::int64_t wall = 0;       ///< ns over all sessions (resume adds)
  std::int64_t measuring = 0;  ///< ns inside runs' windows, warm-up and window-time probes included, of all testbeds
  std::optional<VirtualTestbed> virtual_clock = {};           ///< empty: the testbed goes by its hosts' clocks
  std::optional<std::string> lab_kernel = {};                 ///< a lab's: its release, such as 6.12.107+deb12-amd64
  std::optional<std::vector<Testbed>> further_testbeds = {};  ///< that share the campaign's repetitions with the first

  /// All of them, the first first.
  std::vector<Testbed> testbeds() const;
  /// `measuring` of one testbed, on average: with `wall` the share of its time that was measured.
  std::int64_t measuring_of_one() const;
};
BOOST_DESCRIBE_STRUCT(Manifest, (),
                      (schema, name, description, campaign_file, campaign_text, seed, version, command, testbed, cells,
                       repetitions_min, repetitions_max, started, finished, wall, measuring, virtual_clock, lab_kernel,
                       further_testbeds))

std::string to_json(const Manifest& manifest);
Result<Manifest> manifest_from_json(std::string_view text);

}  // namespace longhaul
