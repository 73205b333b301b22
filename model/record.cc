#include "model/record.hh"

#include "model/codec.hh"
#include "model/manifest.hh"

namespace longhaul {
namespace {

template <typename T>
Result<T> read_versioned(std::string_view text) {
  auto record = codec::parse<T>(text);
  if (record && record->schema > kRecordSchema)
    return refuse("record schema {} is newer than this program's {}: use a newer longhaul", record->schema,
                  kRecordSchema);
  return record;
}

}  // namespace

HistogramData to_data(const Histogram& histogram) {
  return {.buckets = histogram.buckets(), .min = histogram.min(), .max = histogram.max(), .sum = histogram.sum()};
}

Result<Histogram> from_data(const HistogramData& data) {
  try {
    return Histogram::from_buckets(data.buckets, data.min, data.max, data.sum);
  } catch (const std::out_of_range& e) {
    return refuse("damaged histogram: {}", e.what());
  }
}

std::string to_json(const NodeRecord& record) {
  return codec::serialize(record);
}
std::string to_json(const RunRecord& record) {
  return codec::serialize(record);
}
Result<NodeRecord> node_record_from_json(std::string_view text) {
  return read_versioned<NodeRecord>(text);
}
Result<RunRecord> run_record_from_json(std::string_view text) {
  return read_versioned<RunRecord>(text);
}

std::vector<Testbed> Manifest::testbeds() const {
  std::vector<Testbed> all{testbed};
  if (further_testbeds) all.insert(all.end(), further_testbeds->begin(), further_testbeds->end());
  return all;
}

std::int64_t Manifest::measuring_of_one() const {
  return measuring / static_cast<std::int64_t>(1 + (further_testbeds ? further_testbeds->size() : 0));
}

std::string to_json(const Manifest& manifest) {
  return codec::serialize(manifest);
}
Result<Manifest> manifest_from_json(std::string_view text) {
  return read_versioned<Manifest>(text);
}

}  // namespace longhaul
