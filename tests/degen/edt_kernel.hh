// One link of engine edt: what its program `depart` does in the kernel (programs.bpf.c), with arrays for maps.
#pragma once

#include <vector>

#include "degen/engines/edt/plan.hh"

namespace longhaul::degen::test {

class EdtKernel {
 public:
  enum class Kind { packet, copy };

  explicit EdtKernel(const EdtLink& link, std::uint64_t seed, Nanoseconds begin = {})
      : terms_(edt::terms_of(link, {}, seed, 0, begin)),
        moments_(edt::moments_of(link)),
        faults_(edt::faults_of(link)) {}

  /// `decision.twice`: its copy is to arrive, too, at the same time.
  edt_decision arrive(std::uint64_t time, std::uint32_t bytes = 1514, bool ecn_capable = false, Kind kind = {},
                      const FlowKey& key = {}) {
    edt_packet packet{};
    packet.arrival = time;
    packet.bytes = bytes;
    packet.ecn_capable = ecn_capable ? 1U : 0U;
    packet.copy = kind == Kind::copy ? 1U : 0U;
    if (terms_.delay_only) return edt_delayed(&terms_, &packet);
    edt_look_up(&terms_, moments_.data(), &packet);
    if (terms_.numbered != 0 && kind == Kind::packet && edt_has_number(&terms_, key.protocol, key.from, key.to) != 0) {
      if (const auto place = edt_hit(faults_.data(), edt_number(&state_)); place != 0) {
        packet.harm = faults_[place - 1].harm;
        packet.later = faults_[place - 1].by;
      }
    }
    auto decision = edt_admit(&terms_, &state_, &packet);
    if (edt_takes_time(&decision)) {
      if (decision.work > 0) decision.due = edt_done(&terms_, moments_.data(), decision.work);
      edt_place(&terms_, &state_, &packet, &decision);
    }
    return decision;
  }

  const edt_terms& terms() const { return terms_; }
  const edt_state& state() const { return state_; }

 private:
  edt_terms terms_;
  std::vector<edt_moment> moments_;
  std::vector<edt_fault> faults_;
  edt_state state_{};
};

}  // namespace longhaul::degen::test
