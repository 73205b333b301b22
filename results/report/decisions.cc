#include "results/report/decisions.hh"

#include "results/analyses/decision.hh"

namespace longhaul::results {

namespace json = boost::json;

json::array decisions_data(const Summary& summary, const Vocabulary& vocabulary) {
  json::array all;
  for (const auto& one : decisions(summary, vocabulary)) {
    json::array choices;
    for (const auto& choice : one.choices)
      choices.emplace_back(json::object{
          {"id", choice.cell->cell_id}, {"name", choice.name}, {"value", choice.value}, {"as_good", choice.as_good}});
    json::object task;
    for (const auto& [name, word] : one.task) task[name] = word;
    all.emplace_back(json::object{{"workload", one.workload},
                                  {"provider", one.provider},
                                  {"task", std::move(task)},
                                  {"size", one.size},
                                  {"delay", one.delay},
                                  {"choices", std::move(choices)}});
  }
  return all;
}

}  // namespace longhaul::results
