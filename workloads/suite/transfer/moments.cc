#include "workloads/suite/transfer/moments.hh"

#include <algorithm>

#include "common/median.hh"

namespace longhaul::workloads::transfer {
namespace {

// The clocks of two machines: the same moment, by the client's.
frrwp::Moments by_client(const frrwp::Moments& server, Nanoseconds offset) {
  auto moved = server;
  for (const auto moment : frrwp::kMoments)
    if (server.*moment != frrwp::kNever) moved.*moment -= offset;
  return moved;
}

}  // namespace

void MomentLog::record(const char* name, observe::RawTime from, observe::RawTime to, bool across) {
  if (from == frrwp::kNever || to == frrwp::kNever) return;
  auto& series = samples_[name];
  series.across = across;
  // An end that was ready before the other asked has not waited for it; a clock's error is no time.
  series.samples.add(std::max(Nanoseconds{0}, to - from), kRawSamples);
}

Nanoseconds MomentLog::path_of(const frrwp::Moments& client, const frrwp::Moments& server_clock) const {
  return (write_ ? client.posted : server_clock.posted) - client.started;
}

void MomentLog::add_typical(const frrwp::Moments& client, const frrwp::Moments& server_clock) {
  typical_ = path_of(client, server_clock);
}

void MomentLog::add(const frrwp::Moments& client, const frrwp::Moments& server_clock) {
  // An offset between the clocks is in both, and falls out.
  if (typical_) saved_.push_back(*typical_ - path_of(client, server_clock));
  typical_.reset();
  const auto server = by_client(server_clock, clock_.offset);
  const auto& source = write_ ? client : server;
  const auto& sink = write_ ? server : client;
  const auto begun = client.started;
  record("transfer", begun, sink.arrived, write_);
  record("critical_path", begun, source.posted, !write_);
  record("client_registration", client.registering, client.registered, false);
  record("server_registration", server.registering, server.registered, false);
  record("start_trip", client.told, server.started, true);
  // A key that came ahead of need was no trip on the way.
  if (sink.key_sent >= begun) record("key_trip", sink.key_sent, source.key_came, true);
  record("submission", std::max(source.key_came, source.registered), source.posted, false);
  record("key_exposed", sink.key_sent, sink.released, false);
  record("at_started", begun, server.started, true);
  record("at_client_registering", begun, client.registering, false);
  record("at_client_registered", begun, client.registered, false);
  record("at_server_registering", begun, server.registering, true);
  record("at_server_registered", begun, server.registered, true);
  record("at_key_sent", begun, sink.key_sent, write_);
  record("at_key_came", begun, source.key_came, !write_);
  record("at_client_released", begun, client.released, false);
  record("at_server_released", begun, server.released, true);
}

bool MomentLog::hidden(const Series& series) const {
  return series.across && static_cast<double>(clock_.error.count()) > series.samples.histogram.quantile(0.5);
}

bool MomentLog::left_out() const {
  return std::any_of(samples_.begin(), samples_.end(), [&](const auto& one) { return hidden(one.second); });
}

std::map<std::string, Metric> MomentLog::metrics() const {
  std::map<std::string, Metric> all;
  for (const auto& [name, series] : samples_)
    if (!hidden(series)) all[name] = to_metric(series.samples);
  if (!saved_.empty()) all["saved"] = to_metric(static_cast<double>(upper_median(saved_).count()), saved_.size());
  return all;
}

}  // namespace longhaul::workloads::transfer
