// Events of a campaign, typed; terminal and JSON lines are sinks of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/record.hh"
#include "model/units.hh"

namespace longhaul::orchestrator {

/// Something takes a moment: the lab boots, agents are awaited.
struct StepEvent {
  std::string text;
};

struct WarningEvent {
  std::string text;
};

struct CampaignStarted {
  std::string name;
  std::string directory;
  std::int64_t cells = 0;
  std::int64_t runs = 0;      ///< still to come
  std::int64_t finished = 0;  ///< by an earlier session
  Nanoseconds estimate{0};
};

/// An impairment is in place and measured.
struct BlockStarted {
  std::string testbed;     ///< empty: there is one
  std::string impairment;  ///< "delay 5ms", "none"
  std::string engine;
  int repetition = 0;
  std::int64_t runs = 0;
  int tries = 0;                                         ///< how often it was applied until it was within tolerance
  std::int64_t asked = 0, programmed = 0, achieved = 0;  ///< forward, ns
  std::int64_t asked_back = 0, programmed_back = 0, achieved_back = 0;
};

struct RunStarted {
  std::string testbed;  ///< empty: there is one
  std::string cell;     ///< for people
  int repetition = 0;
  int attempt = 0;
};

struct RunFinished {
  std::string run_id;
  std::string cell;
  Status status = Status::ok;
  std::string message;
  std::string metric;  ///< the headline's name
  std::string unit;
  std::optional<double> value;  ///< its value in base units
  std::int64_t done = 0;        ///< runs of this campaign that count, all sessions
  std::int64_t remaining = 0;   ///< as far as one knows
  Nanoseconds eta{0};
};

struct CampaignFinished {
  std::vector<std::pair<Status, std::int64_t>> cells;  ///< how many ended so
  std::int64_t unfinished = 0;                         ///< how many an interruption left to --resume
  std::int64_t runs = 0;
  Nanoseconds wall{0};
  Nanoseconds measuring{0};
  bool interrupted = false;
  std::string directory;
};

using Event =
    std::variant<StepEvent, WarningEvent, CampaignStarted, BlockStarted, RunStarted, RunFinished, CampaignFinished>;

class Sink {
 public:
  virtual ~Sink() = default;
  virtual void on(const Event& event) = 0;
};

}  // namespace longhaul::orchestrator
