// A testbed in memory: nodes that obey at once, a router whose lateness one can choose, and ways to break them.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "orchestrator/events/event.hh"
#include "orchestrator/run/control.hh"
#include "orchestrator/run/journal.hh"

namespace longhaul::orchestrator::testing {

/// How a run goes.
struct Behaviour {
  Status status = Status::ok;
  double value = 1000;
  bool kills_agent = false;  ///< the client's agent dies in the middle
  bool loses_wan = false;    ///< degen forgets its impairment meanwhile
  std::int64_t drift = 0;    ///< of the delay while the run lasts, ns
  bool hangs = false;        ///< the client never ends
  int server_talks = 0;      ///< so many words; the client goes on when the last is read
};

class FakeTestbed : public Dialer {
 public:
  FakeTestbed();
  /// A fault that a test asked for and that never came about fails the test: it would show nothing.
  ~FakeTestbed() override;
  /// A testbed beside another: its nodes have names and agents of their own.
  void rename(const std::string& prefix);
  /// A further client with an attachment of each kind.
  void add_client(std::string name, std::string rxe, std::string siw);

  Testbed testbed;
  /// How each run of a client goes. Where a test sets it, some run must go otherwise than well.
  std::function<Behaviour(const std::string& run_id)> behave;
  std::function<void(const std::string& run_id)> on_start = [](const auto&) {};  ///< of a client

  std::function<void()> on_measure = [] {};  ///< the router is asked for what it does: before a run, and after

  // The router. lateness: what it adds to what it is told; learns: takes what was measured off the next time.
  std::int64_t lateness = 0;
  bool learns = true;
  bool impaired = false;
  Parameters applied;
  std::string engine = "netem";
  int applies = 0;
  int clears = 0;
  bool refuses_to_apply = false;
  int refuses_to_clear = 0;  ///< so many times: its degen is just starting

  std::string kernel;  ///< of all nodes

  std::map<std::string, int> dials;  ///< by node
  std::set<std::string> unreachable;
  std::map<std::string, std::string> wrong;           ///< node -> why its certificate is refused
  std::set<std::string> running;                      ///< "<node> <run_id>" of processes that have not been ended
  std::vector<std::string> started;                   ///< run ids of clients, in order
  std::vector<agents::StartRequest> local;            ///< of local workloads
  std::vector<agents::ConnectRequest> told;           ///< where their servers are
  std::map<std::string, agents::ClockOffset> clocks;  ///< of nodes that have one of their own
  std::multiset<std::string> echoes;
  std::map<std::string, std::string> echo_tokens;  ///< by address: what probes must have
  std::multimap<std::string, std::string> tokens;  ///< by run id: what each of its processes was given

  Awaitable<Result<std::unique_ptr<NodeControl>>> connect(Node node) override;
  std::string hopeless() override { return why_hopeless; }
  std::string why_hopeless;

  /// How often each fault came about, by its name: a member of Behaviour, or of this class (`unreachable`, ...).
  std::map<std::string, int> fired;

  // For FakeControl.
  Behaviour behaviour_of(const std::string& run_id);
  std::int64_t drift = 0;
  std::int64_t correction = 0;
  std::uint64_t probes = 0;
  std::uint64_t generation = 0;
  std::map<std::string, std::uint64_t> alive;                  ///< node -> generation of its connection
  std::map<std::string, std::deque<agents::RunEvent>> events;  ///< by "<node> <run_id>"
  std::map<std::string, std::function<void()>> when_read;      ///< by the same: once nothing is left of them
  degen::Report report();

 private:
  bool misbehaves_ = false;  // behave was set
};

class MemoryJournal : public Journal {
 public:
  std::vector<RunRecord> runs;
  Manifest manifest;
  int saves = 0;
  std::size_t capacity = 1'000'000;        ///< runs until the disk is full
  std::function<void()> on_write = [] {};  ///< by whoever writes

  Result<std::string> add_facts(const NodeFacts& facts) override { return "digest of " + facts.hostname; }
  Result<void> add_run(const RunRecord& record) override {
    on_write();
    if (runs.size() >= capacity) return fail("results.db: no space left on device");
    runs.push_back(record);
    return {};
  }
  Result<void> save_manifest(const Manifest& value) override {
    if (!runs.empty()) on_write();
    manifest = value;
    ++saves;
    return {};
  }
};

class MemorySink : public Sink {
 public:
  std::vector<Event> events;
  void on(const Event& event) override { events.push_back(event); }
  template <typename T>
  std::vector<T> of() const {
    std::vector<T> result;
    for (const auto& event : events)
      if (const auto* one = std::get_if<T>(&event)) result.push_back(*one);
    return result;
  }
};

}  // namespace longhaul::orchestrator::testing
