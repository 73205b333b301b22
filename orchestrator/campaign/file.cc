#include "orchestrator/campaign/file.hh"

#include <fmt/ranges.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <sstream>

#include "model/parameter.hh"

namespace longhaul::orchestrator {
namespace {

constexpr std::size_t kMaxText = std::size_t{1} << 20;
constexpr std::size_t kMaxEntries = 100'000;
constexpr std::size_t kMaxExperiments = 1000;

FilePosition position_of(const YAML::Mark& mark) {
  return {.line = mark.line + 1, .column = mark.column + 1};
}
FilePosition position_of(const YAML::Node& node) {
  return position_of(node.Mark());
}

std::string kind_of(const YAML::Node& node) {
  if (node.IsScalar()) return fmt::format("'{}'", node.Scalar());
  if (node.IsSequence()) return "a list";
  if (node.IsMap()) return "a map of keys";
  return "nothing";
}

// Fills one CampaignFile from the document's tree.
class Reader {
 public:
  explicit Reader(CampaignFile& file) : file_(file) {}

  Result<void> document(const YAML::Node& root) {
    if (!root.IsMap())
      return error(FilePosition{1, 1}, "expected a campaign: a map with name, workload, series, axes ..., got {}",
                   kind_of(root));
    static const std::vector<std::string> known{"name",  "description", "workload",  "series",     "axes",
                                                "fixed", "repeat",      "max_cells", "experiments"};
    if (auto ok = check_keys(root, "the campaign", known); !ok) return ok;
    if (auto ok = word(root, "name", "a name", true, file_.name); !ok) return ok;
    if (auto ok = word(root, "description", "one line of text", false, file_.description); !ok) return ok;
    if (auto ok = experiments(root); !ok) return ok;
    if (auto ok = repeat(root["repeat"]); !ok) return ok;
    Word limit;
    if (auto ok = word(root, "max_cells", "a whole number", false, limit); !ok) return ok;
    if (!limit.text.empty()) file_.max_cells = limit;
    return {};
  }

 private:
  template <typename... Args>
  tl::unexpected<Error> error(FilePosition place, fmt::format_string<Args...> format, Args&&... args) const {
    return refuse("{}{}", at(file_, place), fmt::format(format, std::forward<Args>(args)...));
  }

  // Keys are words, given once, and (where `known` is not empty) known.
  Result<void> check_keys(const YAML::Node& map, const std::string& where,
                          const std::vector<std::string>& known) const {
    std::vector<Word> seen;
    for (const auto& entry : map) {
      const auto place = position_of(entry.first);
      if (!entry.first.IsScalar()) return error(place, "expected a key of {}, got {}", where, kind_of(entry.first));
      const auto& key = entry.first.Scalar();
      if (!known.empty() && std::find(known.begin(), known.end(), key) == known.end()) {
        const auto near = nearest(key, known);
        return error(place, "unknown key '{}' in {}; {} takes {}", key, where,
                     near.empty() ? "it" : fmt::format("did you mean '{}'? It", near), fmt::join(known, ", "));
      }
      for (const auto& other : seen)
        if (other.text == key)
          return error(place, "key '{}' is given twice in {}, first in line {}", key, where, other.place.line);
      seen.push_back({key, place});
    }
    return {};
  }

  Result<Word> scalar(const YAML::Node& node, const std::string& key, const std::string& expected,
                      FilePosition fallback) const {
    const auto place = node.IsDefined() && !node.Mark().is_null() ? position_of(node) : fallback;
    if (!node.IsScalar() || node.Scalar().empty())
      return error(place, "expected {} for '{}', got {}", expected, key, node.IsScalar() ? "nothing" : kind_of(node));
    return Word{node.Scalar(), place};
  }

  Result<void> word(const YAML::Node& map, const char* key, const std::string& expected, bool required,
                    Word& out) const {
    const auto node = map[key];
    if (!node.IsDefined()) {
      if (required) return error(position_of(map), "key '{}' is missing: expected {}", key, expected);
      return {};
    }
    auto value = scalar(node, key, expected, position_of(map));
    if (!value) return tl::unexpected(value.error());
    out = std::move(*value);
    return {};
  }

  Result<std::vector<Setting>> settings(const YAML::Node& map, const std::string& where) const {
    if (auto ok = check_keys(map, where, {}); !ok) return tl::unexpected(ok.error());
    std::vector<Setting> result;
    for (const auto& entry : map) {
      const auto key = Word{entry.first.Scalar(), position_of(entry.first)};
      if (entry.second.IsSequence())
        return error(position_of(entry.second),
                     "expected one value for '{}' in {}, got a list; what is swept belongs into 'axes'", key.text,
                     where);
      auto value = scalar(entry.second, key.text, "one value", key.place);
      if (!value) return tl::unexpected(value.error());
      result.push_back({key, std::move(*value)});
    }
    return result;
  }

  Result<void> experiments(const YAML::Node& root) {
    const auto list = root["experiments"];
    ExperimentSection top;
    top.place = position_of(root);
    if (auto ok = sections(root, top); !ok) return ok;
    if (!list.IsDefined()) {
      if (auto ok = word(root, "workload", "the name of a workload, or a list of 'experiments'", true, top.workload);
          !ok)
        return ok;
      file_.experiments.push_back(std::move(top));
      return {};
    }
    if (root["workload"].IsDefined())
      return error(position_of(root["workload"]),
                   "a campaign has either 'workload' or 'experiments', each entry with its workload");
    if (!list.IsSequence() || list.size() == 0)
      return error(
          position_of(list),
          "expected a list for 'experiments', such as [{{workload: latency, axes: {{delay: [0, 5ms]}}}}], got {}",
          list.IsSequence() ? "an empty one" : kind_of(list));
    if (list.size() > kMaxExperiments)
      return error(position_of(list), "'experiments' has {} entries, at most {} are read", list.size(),
                   kMaxExperiments);
    for (const auto& entry : list) {
      if (!entry.IsMap())
        return error(position_of(entry), "expected an experiment: a map with workload, series, axes, fixed, got {}",
                     kind_of(entry));
      static const std::vector<std::string> known{"workload", "series", "axes", "fixed"};
      if (auto ok = check_keys(entry, "an experiment", known); !ok) return ok;
      auto experiment = top;
      experiment.place = position_of(entry);
      if (auto ok = word(entry, "workload", "the name of a workload", true, experiment.workload); !ok) return ok;
      if (auto ok = sections(entry, experiment); !ok) return ok;
      file_.experiments.push_back(std::move(experiment));
    }
    return {};
  }

  // Those that are there replace what `out` has.
  Result<void> sections(const YAML::Node& map, ExperimentSection& out) const {
    if (auto ok = series(map["series"], out.series); !ok) return ok;
    if (auto ok = axes(map["axes"], out.axes); !ok) return ok;
    return fixed(map["fixed"], out.fixed);
  }

  Result<void> series(const YAML::Node& node, std::vector<SeriesEntry>& out) const {
    if (!node.IsDefined()) return {};
    out.clear();
    if (!node.IsSequence() || node.size() == 0)
      return error(position_of(node),
                   "expected a list for 'series', such as [{{transport: rdma, provider: rxe}}], got {}",
                   node.IsSequence() ? "an empty one" : kind_of(node));
    if (node.size() > kMaxEntries)
      return error(position_of(node), "'series' has {} entries, at most {} are read", node.size(), kMaxEntries);
    for (const auto& entry : node) {
      if (!entry.IsMap() || entry.size() == 0)
        return error(position_of(entry), "expected a map of axes such as {{transport: rdma, provider: rxe}}, got {}",
                     entry.IsMap() ? "an empty one" : kind_of(entry));
      auto axes = settings(entry, "an entry of series");
      if (!axes) return tl::unexpected(axes.error());
      out.push_back({position_of(entry), std::move(*axes)});
    }
    return {};
  }

  Result<void> axes(const YAML::Node& node, std::vector<ListSetting>& out) const {
    if (!node.IsDefined()) return {};
    out.clear();
    if (!node.IsMap())
      return error(position_of(node), "expected a map of lists for 'axes', such as {{delay: [0, 5ms]}}, got {}",
                   kind_of(node));
    if (auto ok = check_keys(node, "axes", {}); !ok) return ok;
    for (const auto& entry : node) {
      ListSetting axis{.key = {entry.first.Scalar(), position_of(entry.first)}, .values = {}};
      const auto place = entry.second.Mark().is_null() ? axis.key.place : position_of(entry.second);
      if (!entry.second.IsSequence())
        return error(place, "expected a list for axis '{}', got {}{}", axis.key.text, kind_of(entry.second),
                     entry.second.IsScalar() ? "; one value for all cells belongs into 'fixed'" : "");
      if (entry.second.size() == 0)
        return error(place, "axis '{}' is an empty list; leave it out or give it values", axis.key.text);
      if (entry.second.size() > kMaxEntries)
        return error(place, "axis '{}' has {} values, at most {} are read", axis.key.text, entry.second.size(),
                     kMaxEntries);
      for (const auto& item : entry.second) {
        auto value = scalar(item, axis.key.text, "a value", place);
        if (!value) return tl::unexpected(value.error());
        axis.values.push_back(std::move(*value));
      }
      out.push_back(std::move(axis));
    }
    return {};
  }

  Result<void> fixed(const YAML::Node& node, std::vector<Setting>& out) const {
    if (!node.IsDefined()) return {};
    if (!node.IsMap())
      return error(position_of(node), "expected a map of values for 'fixed', such as {{duration: 1s}}, got {}",
                   kind_of(node));
    auto values = settings(node, "fixed");
    if (!values) return tl::unexpected(values.error());
    out = std::move(*values);
    return {};
  }

  Result<void> repeat(const YAML::Node& node) {
    if (!node.IsDefined()) return {};
    if (!node.IsMap())
      return error(position_of(node), "expected a map for 'repeat', such as {{min: 6, max: 12}}, got {}",
                   kind_of(node));
    static const std::vector<std::string> known{"min", "max", "precision"};
    if (auto ok = check_keys(node, "repeat", known); !ok) return ok;
    file_.repeat.place = position_of(node);
    for (const auto& [key, out] : {std::pair{"min", &file_.repeat.min}, std::pair{"max", &file_.repeat.max},
                                   std::pair{"precision", &file_.repeat.precision}}) {
      Word value;
      if (auto ok = word(node, key, "one value", false, value); !ok) return ok;
      if (!value.text.empty()) *out = value;
    }
    return {};
  }

  CampaignFile& file_;
};

// For a document that is read over.
class ReadOver : public YAML::EventHandler {
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

enum class Documents { none, one, several };

// YAML::LoadAll would not come back from a text such as ", a": before what no document begins with it finds an empty
// one, for ever.
Documents documents_in(const std::string& text) {
  std::istringstream stream{text};
  YAML::Parser parser{stream};
  ReadOver each;
  if (!parser.HandleNextDocument(each)) return Documents::none;
  return parser.HandleNextDocument(each) ? Documents::several : Documents::one;
}

}  // namespace

std::string at(const CampaignFile& file, FilePosition place) {
  return fmt::format("{}:{}:{}: ", file.path, place.line, place.column);
}

Result<CampaignFile> parse_campaign(std::string path, std::string text) {
  CampaignFile file{.path = std::move(path),
                    .text = std::move(text),
                    .name = {},
                    .description = {},
                    .experiments = {},
                    .repeat = {},
                    .max_cells = {}};
  if (file.text.size() > kMaxText)
    return refuse("{}: {} bytes are no campaign file; at most {} are read", file.path, file.text.size(), kMaxText);
  try {
    if (const auto documents = documents_in(file.text); documents != Documents::one)
      return refuse("{}:1:1: expected one YAML document, got {}", file.path,
                    documents == Documents::none ? "an empty file" : "several");
    if (auto ok = Reader{file}.document(YAML::Load(file.text)); !ok) return tl::unexpected(ok.error());
  } catch (const YAML::Exception& error) {
    const auto place = error.mark.is_null() ? FilePosition{1, 1} : position_of(error.mark);
    return refuse("{}not YAML: {}", at(file, place), error.msg);
  }
  return file;
}

}  // namespace longhaul::orchestrator
