// Lines of Slurm's commands, cut into parts. Private to this folder.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "common/number.hh"

namespace longhaul::orchestrator::slurm {

/// The part before the next `separator`, which is taken off.
inline std::string_view cut(std::string_view& text, char separator) {
  const auto end = std::min(text.find(separator), text.size());
  const auto part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

/// What a program of Slurm's complained, in one line.
inline std::string one_line(std::string_view said) {
  std::string words{said.substr(0, said.find_last_not_of(" \n") + 1)};
  std::replace(words.begin(), words.end(), '\n', ' ');
  return words;
}

inline constexpr const char* kCheckMunge = "check that munged runs here, with the cluster's key";
inline constexpr const char* kCheckController =
    "check that slurmctld runs and that this machine knows it (slurm.conf, SLURM_CONF)";

}  // namespace longhaul::orchestrator::slurm
