// The driver's journal on the store of a run directory.
#pragma once

#include <string>

#include "orchestrator/run/journal.hh"
#include "results/store/store.hh"

namespace longhaul::orchestrator {

class StoreJournal : public Journal {
 public:
  /// `store` must outlive this.
  explicit StoreJournal(results::Store& store) : store_(store) {}

  Result<std::string> add_facts(const NodeFacts& facts) override {
    auto digest = results::facts_digest(facts);
    if (auto kept = store_.add_facts(digest, facts); !kept) return tl::unexpected(kept.error());
    return digest;
  }
  Result<void> add_run(const RunRecord& record) override { return store_.add_run(record); }
  Result<void> save_manifest(const Manifest& manifest) override { return store_.save_manifest(manifest); }

 private:
  results::Store& store_;
};

}  // namespace longhaul::orchestrator
