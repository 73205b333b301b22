// LHD, least hit density (Beckmann, Chen and Cidon, NSDI 2018): what is expected to hit least often for the room and
// the time that it takes goes first. How regions of an age fare is learnt from what hit and what went at that age, by
// class of how often a region was used; the candidates are a sample.
#pragma once

#include <array>
#include <random>

#include "registration/cache/cache.hh"

namespace longhaul::registration {

class Lhd : public Policy {
 public:
  Lhd(const Regions& regions, Capacity capacity);
  void inserted(RegionId id) override;
  void touched(RegionId id) override;
  void removed(RegionId id) override;
  void choose(std::uint64_t needed, std::vector<RegionId>& victims) override;

 private:
  static constexpr std::size_t kAges = 256;
  static constexpr std::size_t kClasses = 8;
  struct State {
    std::uint64_t seen = 0;
    std::uint32_t place = 0;  // in live_
    std::uint8_t uses = 0;
    bool chosen = false;
  };
  struct Class {
    std::array<double, kAges> hits{};
    std::array<double, kAges> gone{};
    std::array<double, kAges> density{};
  };
  std::size_t age(const State& state) const;
  Class& class_of(const State& state);
  double density(RegionId id);
  void tick();
  void learn();

  std::vector<State> states_;
  std::vector<RegionId> live_;
  std::array<Class, kClasses> classes_;
  std::uint64_t now_ = 0;
  std::uint64_t coarseness_ = 1;  // requests that an age stands for
  std::uint64_t next_lesson_;
  double overflows_ = 0;  // events beyond the oldest age
  double events_ = 0;
  std::mt19937 random_{1};
};

}  // namespace longhaul::registration
