// Stand-ins for the tests of the service: an engine that records what it is told, and a run directory that goes.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "degen/engines/engine.hh"
#include "degen/service/ownership.hh"

namespace longhaul::degen::test {

/// The calls to an engine, shared by the test and the engine.
struct Log {
  std::vector<std::string> events;
  std::vector<ImpairmentPlan> plans;
  std::string refuse;             ///< check() refuses with this
  std::string fail;               ///< apply() fails with this
  std::vector<std::string> left;  ///< what sweep() finds
  bool resists = false;           ///< nothing can be removed
  std::optional<std::string> missing;
  std::vector<std::string> swept;  ///< the interfaces that it was given
  Counters counters;
  bool draws_by_seed = true;
  std::vector<Lack> lacks;
  std::function<void()> on_apply;
  std::optional<Nanoseconds> renewal;  ///< renew() asks to be called again after this
  std::function<void()> on_renew;
};

class RecordingEngine : public Engine {
 public:
  RecordingEngine(std::string name, Log& log) : name_(std::move(name)), log_(log) {}
  std::string_view name() const override { return name_; }
  Result<void> check(const ImpairmentPlan&) override {
    if (!log_.refuse.empty()) return longhaul::refuse("{}", log_.refuse);
    return {};
  }
  Result<void> apply(const ImpairmentPlan& plan) override {
    log_.events.push_back(name_ + " apply");
    log_.plans.push_back(plan);
    if (log_.on_apply) log_.on_apply();
    if (!log_.fail.empty()) return longhaul::fail("{}", log_.fail);
    return {};
  }
  bool clear() noexcept override {
    log_.events.push_back(name_ + " clear");
    return !log_.resists;
  }
  std::optional<std::string> missing() override { return log_.missing; }
  Counters counters(Way) override { return log_.counters; }
  std::vector<Lack> lacks() override { return log_.lacks; }
  bool draws_by_seed() const override { return log_.draws_by_seed; }
  std::optional<Nanoseconds> renew() override {
    if (log_.renewal) log_.events.push_back(name_ + " renew");
    if (log_.on_renew) log_.on_renew();
    return log_.renewal;
  }
  Swept sweep(const std::vector<std::string>& interfaces) override {
    log_.swept = interfaces;
    if (log_.resists) return {.removed = {}, .clean = false};
    return {.removed = log_.left, .clean = true};
  }

 private:
  std::string name_;
  Log& log_;
};

/// A folder under the temporary one, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path() / "degen-test-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline const Sides kSides{.client = {{"ra0"}}, .server = {{"rb0"}}};

}  // namespace longhaul::degen::test
