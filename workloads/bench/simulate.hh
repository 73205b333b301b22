// longhaul-bench simulate: traces through the region cache's policies.
#pragma once

#include <memory>

namespace CLI {
class App;
}

namespace longhaul::workloads {

class SimulateCommand {
 public:
  SimulateCommand();
  ~SimulateCommand();
  void add_to(CLI::App& parent);
  bool chosen() const;
  /// Returns the exit code. `stop`: readable when the user wants to end it.
  int run(int stop);

 private:
  struct Options;
  std::unique_ptr<Options> options_;
};

}  // namespace longhaul::workloads
