#include "results/report/transfers.hh"

#include "results/analyses/transfers/prediction.hh"
#include "results/analyses/transfers/savings.hh"
#include "results/report/data.hh"

namespace longhaul::results {
namespace {

namespace json = boost::json;

json::array predictions_data(const Summary& summary, const Vocabulary& vocabulary) {
  json::array all;
  for (const auto& one : predict_transfers(summary, vocabulary)) {
    const auto& cell = *one.cell;
    const auto spelt = [&](const char* name) { return vocabulary.spelt(cell.workload, cell.parameters, name); };
    const auto parameters = vocabulary.completed(cell.workload, cell.parameters);
    all.emplace_back(json::object{{"id", cell.cell_id},
                                  {"protocol", spelt("protocol")},
                                  {"strategy", spelt("strategy")},
                                  {"direction", spelt("direction")},
                                  {"buffers", spelt("reuse")},
                                  {"size", integer_of(parameters, "size")},
                                  {"compute", integer_of(parameters, "compute")},
                                  {"sleeping", spelt("completion") == "event"},
                                  {"measured", one.measured->median},
                                  {"by_phases", optional_number(one.by_phases)},
                                  {"by_profile", optional_number(one.by_profile)}});
  }
  return all;
}

json::array savings_data(const Summary& summary) {
  json::array all;
  for (const auto& one : savings(summary)) {
    json::object object{{"id", one.cell->cell_id},
                        {"paired", one.typical == nullptr},
                        {"ratio", one.ratio.value},
                        {"saved", one.saved},
                        {"predicted", optional_number(one.predicted)},
                        {"due", one.due()}};
    if (one.interval) {
      object["low"] = one.interval->low;
      object["high"] = one.interval->high;
    }
    all.emplace_back(std::move(object));
  }
  return all;
}

}  // namespace

json::value transfers_data(const Summary& summary, const Vocabulary& vocabulary) {
  auto cells = predictions_data(summary, vocabulary);
  if (cells.empty()) return nullptr;
  return json::object{{"cells", std::move(cells)}, {"savings", savings_data(summary)}};
}

}  // namespace longhaul::results
