// A campaign file as text with places: YAML read strictly into its known shape, values not yet understood.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/result.hh"

namespace longhaul::orchestrator {

/// A position in a file, both from 1.
struct FilePosition {
  int line = 0;
  int column = 0;
};

/// A word of the file and where it stands.
struct Word {
  std::string text;
  FilePosition place;
};

/// "key: value"
struct Setting {
  Word key;
  Word value;
};

/// "key: [value, value]"
struct ListSetting {
  Word key;
  std::vector<Word> values;
};

struct SeriesEntry {
  FilePosition place;
  std::vector<Setting> axes;
};

struct RepeatSection {
  FilePosition place;
  std::optional<Word> min;
  std::optional<Word> max;
  std::optional<Word> precision;
};

/// One workload and what is swept over it.
struct ExperimentSection {
  FilePosition place;
  Word workload;
  std::vector<SeriesEntry> series;
  std::vector<ListSetting> axes;
  std::vector<Setting> fixed;
};

/// A file either is one experiment (keys workload, series, axes, fixed) or has a list of `experiments`; a section that
/// an entry of the list leaves out is then taken, whole, from the top of the file.
struct CampaignFile {
  std::string path;  ///< as the user named it; begins every error
  std::string text;  ///< verbatim
  Word name;
  Word description;
  std::vector<ExperimentSection> experiments;  ///< at least one, with nothing left to take from elsewhere
  RepeatSection repeat;
  std::optional<Word> max_cells;
};

/// "quick.yaml:3:5: " - what every error of a campaign begins with.
std::string at(const CampaignFile& file, FilePosition place);

/// Reads the text of a campaign. Refuses unknown and repeated keys, empty lists and wrong shapes; the error begins with
/// "path:line:column: ", says what was expected and names the nearest known key.
Result<CampaignFile> parse_campaign(std::string path, std::string text);

}  // namespace longhaul::orchestrator
