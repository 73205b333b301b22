#include <boost/json.hpp>

#include "orchestrator/events/sinks.hh"

namespace longhaul::orchestrator {
namespace {

namespace json = boost::json;

json::value status_name(Status status) {
  return json::value(boost::describe::enum_to_string(status, "?"));
}

json::object encode(const StepEvent& e) {
  return {{"event", "step"}, {"text", e.text}};
}
json::object encode(const WarningEvent& e) {
  return {{"event", "warning"}, {"text", e.text}};
}

json::object encode(const CampaignStarted& e) {
  return {{"event", "campaign_started"},
          {"name", e.name},
          {"directory", e.directory},
          {"cells", e.cells},
          {"runs", e.runs},
          {"finished", e.finished},
          {"estimate", e.estimate.count()}};
}

// Of an event: it has the member where there are several testbeds.
json::object of_testbed(const std::string& testbed, json::object event) {
  if (!testbed.empty()) event.emplace("testbed", testbed);
  return event;
}

json::object encode(const BlockStarted& e) {
  return of_testbed(e.testbed, {{"event", "block_started"},
                                {"impairment", e.impairment},
                                {"engine", e.engine},
                                {"repetition", e.repetition},
                                {"runs", e.runs},
                                {"tries", e.tries},
                                {"asked", e.asked},
                                {"programmed", e.programmed},
                                {"achieved", e.achieved},
                                {"asked_back", e.asked_back},
                                {"programmed_back", e.programmed_back},
                                {"achieved_back", e.achieved_back}});
}

json::object encode(const RunStarted& e) {
  return of_testbed(e.testbed,
                    {{"event", "run_started"}, {"cell", e.cell}, {"repetition", e.repetition}, {"attempt", e.attempt}});
}

json::object encode(const RunFinished& e) {
  json::object o{{"event", "run_finished"}, {"run_id", e.run_id}, {"cell", e.cell}, {"status", status_name(e.status)},
                 {"metric", e.metric},      {"unit", e.unit},     {"done", e.done}, {"remaining", e.remaining},
                 {"eta", e.eta.count()}};
  if (e.value) o.emplace("value", *e.value);
  if (!e.message.empty()) o.emplace("message", e.message);
  return o;
}

json::object encode(const CampaignFinished& e) {
  json::object cells;
  for (const auto& [status, count] : e.cells) cells.emplace(boost::describe::enum_to_string(status, "?"), count);
  return {{"event", "campaign_finished"}, {"cells", cells},
          {"unfinished", e.unfinished},   {"runs", e.runs},
          {"wall", e.wall.count()},       {"measuring", e.measuring.count()},
          {"interrupted", e.interrupted}, {"directory", e.directory}};
}

class JsonSink : public Sink {
 public:
  explicit JsonSink(std::FILE* out) : out_(out) {}
  void on(const Event& event) override {
    std::fputs((to_json(event) + '\n').c_str(), out_);
    std::fflush(out_);
  }

 private:
  std::FILE* out_;
};

}  // namespace

std::string to_json(const Event& event) {
  return json::serialize(std::visit([](const auto& e) { return encode(e); }, event));
}

std::unique_ptr<Sink> make_json_sink(std::FILE* out) {
  return std::make_unique<JsonSink>(out);
}

}  // namespace longhaul::orchestrator
