#include "orchestrator/campaign/campaign.hh"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "model/cell.hh"

namespace longhaul::orchestrator {
namespace {

constexpr std::int64_t kMaxRepetitions = 1000;
constexpr int kRunsForInterval = 6;  // below, no distribution-free 95 % interval of a median exists

// Errors of a file, each with its place.
class Complainer {
 public:
  explicit Complainer(const CampaignFile& file) : file_(file) {}

 protected:
  template <typename... Args>
  tl::unexpected<Error> error(FilePosition place, fmt::format_string<Args...> format, Args&&... args) const {
    return refuse("{}{}", at(file_, place), fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  const CampaignFile& file_;
};

// Of the axes that every cell between two nodes has: whether one on a single node has it, too.
bool applies_to_local(const WorkloadSpec& workload, const ParameterSpec& axis) {
  const auto& all = workload.transports;
  if (axis.name == "transport" || axis.name == "provider") return !all.empty();
  return axis.name == "rival" &&
         std::any_of(all.begin(), all.end(), [&](const auto& transport) { return applies(axis, transport); });
}

class ExperimentChecker : Complainer {
 public:
  ExperimentChecker(const CampaignFile& file, const Vocabulary& vocabulary)
      : Complainer(file), vocabulary_(vocabulary) {}

  Result<Experiment> check(const ExperimentSection& section) {
    experiment_.place = section.place;
    if (auto ok = workload(section.workload); !ok) return tl::unexpected(ok.error());
    for (const auto& [key, value] : section.fixed) {
      auto parsed = setting(key, value);
      if (!parsed) return tl::unexpected(parsed.error());
      given_.push_back(key);
      experiment_.fixed.emplace(key.text, std::move(*parsed));
    }
    for (const auto& axis : section.axes)
      if (auto ok = this->axis(axis); !ok) return tl::unexpected(ok.error());
    for (const auto& entry : section.series)
      if (auto ok = series(entry); !ok) return tl::unexpected(ok.error());
    if (experiment_.series.empty()) experiment_.series.push_back({.place = section.place, .parameters = {}});
    return std::move(experiment_);
  }

 private:
  Result<void> workload(const Word& word) {
    std::vector<std::string> names;
    for (const auto& workload : vocabulary_.workloads) {
      names.push_back(workload.name);
      if (workload.name == word.text) experiment_.workload = workload;
    }
    if (experiment_.workload.name.empty()) {
      const auto near = nearest(word.text, names);
      return error(word.place, "unknown workload '{}'; {} is {}", word.text,
                   near.empty() ? "there" : fmt::format("did you mean '{}'? There", near), fmt::join(names, ", "));
    }
    const auto& chosen = std::as_const(experiment_.workload);
    for (const auto* specs : {&vocabulary_.common, &vocabulary_.impairment})
      for (const auto& spec : *specs)
        if (spec.name != kClockAxis)  // the testbed's, no campaign's
          (!is_local(chosen) || applies_to_local(chosen, spec) ? experiment_.specs : inapplicable_).push_back(spec);
    experiment_.specs.insert(experiment_.specs.end(), chosen.parameters.begin(), chosen.parameters.end());
    return {};
  }

  Result<const ParameterSpec*> known(const Word& key) const {
    if (key.text == kClockAxis)
      return error(key.place,
                   "axis 'clock' is no campaign's: the clock belongs to the testbed; leave it out here and use "
                   "longhaul run --lab --clock virtual");
    if (const auto* spec = find_parameter(experiment_.specs, key.text)) return spec;
    if (find_parameter(inapplicable_, key.text) != nullptr)
      return error(
          key.place,
          "axis '{}' does not apply: workload {} runs on one node by itself{}; leave it out here, and give it "
          "to the experiments that need it",
          key.text, experiment_.workload.name,
          experiment_.workload.transports.empty() ? " and has no transport" : ", nothing of it crosses a path");
    std::vector<std::string> names;
    for (const auto& spec : experiment_.specs) names.push_back(spec.name);
    const auto near = nearest(key.text, names);
    return error(key.place, "unknown axis '{}'{}", key.text,
                 near.empty() ? fmt::format("; workload {} has {}", experiment_.workload.name, fmt::join(names, ", "))
                              : fmt::format("; did you mean '{}'?", near));
  }

  Result<Value> parse(const ParameterSpec& spec, const Word& value) const {
    auto parsed = parse_value(spec, value.text);
    if (!parsed) return error(value.place, "axis '{}': {}", spec.name, parsed.error().message);
    return parsed;
  }

  // An axis may be given in one of fixed and axes, or by entries of series.
  Result<Value> setting(const Word& key, const Word& value) const {
    const auto spec = known(key);
    if (!spec) return tl::unexpected(spec.error());
    for (const auto& other : given_)
      if (other.text == key.text)
        return error(key.place, "axis '{}' is given twice: line {} has it already", key.text, other.place.line);
    return parse(**spec, value);
  }

  Result<void> axis(const ListSetting& list) {
    Axis axis{.name = list.key.text, .values = {}};
    for (const auto& word : list.values) {
      auto value = setting(list.key, word);
      if (!value) return tl::unexpected(value.error());
      if (std::find(axis.values.begin(), axis.values.end(), *value) != axis.values.end())
        return error(word.place, "axis '{}' has the value {} twice", axis.name, word.text);
      axis.values.push_back(std::move(*value));
    }
    given_.push_back(list.key);
    experiment_.axes.push_back(std::move(axis));
    return {};
  }

  Result<void> series(const SeriesEntry& entry) {
    Series one{.place = entry.place, .parameters = {}};
    for (const auto& [key, value] : entry.axes) {
      auto parsed = setting(key, value);
      if (!parsed) return tl::unexpected(parsed.error());
      one.parameters.emplace(key.text, std::move(*parsed));
    }
    // Said of one transport by name, an axis that it does not have is a mistake; said of all, it is left out
    // (cells.cc).
    if (const auto transport = transport_of(one.parameters); !transport.empty()) {
      for (const auto& [key, value] : entry.axes) {
        const auto* axis = find_parameter(experiment_.specs, key.text);
        if (!applies(*axis, transport))
          return error(key.place, "axis '{}' means nothing over {}, which has no {}", key.text, transport,
                       spoken(*axis->needs));
      }
    }
    for (const auto& other : experiment_.series)
      if (other.parameters == one.parameters)
        return error(entry.place, "this entry of series is the same as the one in line {}", other.place.line);
    experiment_.series.push_back(std::move(one));
    return {};
  }

  std::string transport_of(const Parameters& parameters) const {
    for (const auto* where : {&parameters, &experiment_.fixed})
      if (const auto it = where->find("transport"); it != where->end()) return std::get<std::string>(it->second);
    return {};
  }

  const Vocabulary& vocabulary_;
  Experiment experiment_;
  std::vector<ParameterSpec> inapplicable_;  // axes that others have
  std::vector<Word> given_;
};

class Checker : Complainer {
 public:
  explicit Checker(CampaignFile& file, const Vocabulary& vocabulary)
      : Complainer(file), file_(file), vocabulary_(vocabulary) {}

  Result<Campaign> check() {
    if (auto ok = head(); !ok) return tl::unexpected(ok.error());
    for (const auto& section : file_.experiments) {
      auto experiment = ExperimentChecker{file_, vocabulary_}.check(section);
      if (!experiment) return tl::unexpected(experiment.error());
      campaign_.experiments.push_back(std::move(*experiment));
    }
    if (auto ok = repeat(); !ok) return tl::unexpected(ok.error());
    if (auto ok = limit(); !ok) return tl::unexpected(ok.error());
    campaign_.file = std::move(file_);
    return std::move(campaign_);
  }

 private:
  Result<void> head() {
    campaign_.name = file_.name.text;
    campaign_.description = file_.description.text;
    const auto plain = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.';
    };
    if (campaign_.name.size() > 64 || !std::all_of(campaign_.name.begin(), campaign_.name.end(), plain))
      return error(file_.name.place, "expected a name of at most 64 letters, digits, '_', '-' or '.', got '{}'",
                   campaign_.name);
    return {};
  }

  Result<std::int64_t> whole(const Word& word, const std::string& name, std::int64_t max) const {
    const ParameterSpec spec{
        .name = name, .kind = Kind::count, .help = {}, .fallback = {}, .min = 1, .max = max, .choices = {}};
    const auto value = parse_value(spec, word.text);
    if (!value) return error(word.place, "{}: {}", name, value.error().message);
    return std::get<std::int64_t>(*value);
  }

  Result<void> repeat() {
    const auto& section = file_.repeat;
    auto& rule = campaign_.repeat;
    if (section.min) {
      const auto min = whole(*section.min, "repeat.min", kMaxRepetitions);
      if (!min) return tl::unexpected(min.error());
      rule.min = static_cast<int>(*min);
    }
    rule.max = rule.min;
    if (section.max) {
      const auto max = whole(*section.max, "repeat.max", kMaxRepetitions);
      if (!max) return tl::unexpected(max.error());
      rule.max = static_cast<int>(*max);
      if (rule.max < rule.min)
        return error(section.max->place, "repeat.max: {} is below repeat.min, {}", rule.max, rule.min);
    }
    if (section.precision) {
      const auto ppm = parse_quantity(Kind::fraction, section.precision->text);
      if (!ppm) return error(section.precision->place, "repeat.precision: {}", ppm.error().message);
      if (*ppm == 0 || *ppm > 1'000'000)
        return error(section.precision->place,
                     "repeat.precision: expected a fraction above 0 and up to 100%, such as 5%, got '{}'",
                     section.precision->text);
      rule.precision = static_cast<double>(*ppm) / 1e6;
      if (rule.max < kRunsForInterval)
        return error(section.precision->place,
                     "repeat.precision: the 95 % interval of a median needs {} runs, repeat.max is {}",
                     kRunsForInterval, rule.max);
    } else if (rule.max > rule.min) {
      return error(
          section.max->place,
          "repeat.max: without repeat.precision every cell is run repeat.min times; give a precision such as 5%");
    }
    return {};
  }

  Result<void> limit() {
    if (!file_.max_cells) return {};
    const auto cells = whole(*file_.max_cells, "max_cells", kLargestMaxCells);
    if (!cells) return tl::unexpected(cells.error());
    campaign_.max_cells = *cells;
    return {};
  }

  CampaignFile& file_;
  const Vocabulary& vocabulary_;
  Campaign campaign_;
};

}  // namespace

Result<Campaign> understand(CampaignFile file, const Vocabulary& vocabulary) {
  return Checker{file, vocabulary}.check();
}

}  // namespace longhaul::orchestrator
