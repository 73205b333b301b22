#include "results/analyses/decision.hh"

#include <algorithm>
#include <tuple>

namespace longhaul::results {
namespace {

/// A workload that can be run in several ways for one task.
struct Question {
  const char* workload;
  const char* metric;                  // less is better
  std::vector<const char*> task;       // parameters that say what is to be done
  std::vector<const char*> way;        // how: always told
  std::vector<const char*> otherwise;  // how: told where they are not as by default
  std::vector<const char*> left_out;   // cells where these are not as by default are no answer
};

const std::vector<Question>& questions() {
  static const std::vector<Question> all{
      {.workload = "transfer",
       .metric = "transfer",
       .task = {"direction", "reuse"},
       .way = {"protocol", "strategy"},
       .otherwise = {},
       .left_out = {"compute", "completion"}},
      {.workload = "rpc",
       .metric = "operation",
       .task = {"procedure", "threads"},
       .way = {"design", "strategy"},
       .otherwise = {"server_buffers", "inline", "segment", "ord", "serving", "server_threads", "credits", "server",
                     "completion"},
       .left_out = {}},
  };
  return all;
}

std::string name_of(const CellSummary& cell, const Question& question, const Vocabulary& vocabulary) {
  const auto spelt = [&](const char* name) { return vocabulary.spelt(cell.workload, cell.parameters, name); };
  std::string name;
  const auto add = [&](const std::string& word) { name += name.empty() ? word : ", " + word; };
  if (is_baseline(cell.transport)) {
    add(find_transport(cell.transport)->title);
  } else {
    for (const auto* way : question.way) add(spelt(way));
  }
  for (const auto* way : question.otherwise)
    if (cell.parameters.contains(way)) add(fmt::format("{} {}", way, spelt(way)));
  return name;
}

std::vector<Decision> answers(const Summary& summary, const Question& question, const Vocabulary& vocabulary) {
  using Place = std::tuple<std::string, std::map<std::string, std::string>, std::int64_t, std::int64_t>;
  std::map<Place, std::vector<Choice>> places;
  for (const auto& cell : summary.cells) {
    if (cell.workload != question.workload || cell.usable == 0) continue;
    const auto* metric = cell.metric(question.metric);
    const bool left_out = std::any_of(question.left_out.begin(), question.left_out.end(),
                                      [&](const char* name) { return cell.parameters.contains(name); });
    if (metric == nullptr || left_out) continue;
    const auto parameters = vocabulary.completed(cell.workload, cell.parameters);
    std::map<std::string, std::string> task;
    for (const auto* name : question.task) task[name] = vocabulary.spelt(cell.workload, cell.parameters, name);
    // A path that loses or delays otherwise is another place.
    for (const auto& axis : vocabulary.impairment)
      if (axis.name != "delay" && cell.parameters.contains(axis.name))
        task[axis.name] = vocabulary.spelt(cell.workload, cell.parameters, axis.name);
    places[{offers(cell.transport, Capability::any_link) ? cell.rival : cell.provider, std::move(task),
            integer_of(parameters, "size"), cell.forward.asked}]
        .push_back({.cell = &cell, .name = name_of(cell, question, vocabulary), .value = metric->median});
  }
  std::vector<Decision> all;
  for (auto& [place, choices] : places) {
    if (choices.size() < 2) continue;
    std::stable_sort(choices.begin(), choices.end(),
                     [](const Choice& a, const Choice& b) { return a.value < b.value; });
    const auto& best = choices.front().cell->metric(question.metric)->values;
    for (auto& choice : choices) {
      const auto ratio = ratio_interval(choice.cell->metric(question.metric)->values, best).value_or(Ratio{});
      choice.as_good = !ratio.interval || ratio.interval->contains(1);
    }
    const auto& [provider, task, size, delay] = place;
    all.push_back({question.workload, provider, task, size, delay, std::move(choices)});
  }
  return all;
}

}  // namespace

std::vector<Decision> decisions(const Summary& summary, const Vocabulary& vocabulary) {
  std::vector<Decision> all;
  for (const auto& question : questions())
    for (auto& answer : answers(summary, question, vocabulary)) all.push_back(std::move(answer));
  return all;
}

}  // namespace longhaul::results
