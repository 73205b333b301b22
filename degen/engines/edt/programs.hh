// The programs of one link in the kernel. They stay there for as long as this lives or a filter has them.
#pragma once

#include <memory>
#include <span>

#include "degen/engines/edt/plan.hh"

struct edt_programs;

namespace longhaul::degen {

class EdtPrograms {
 public:
  /// Loads them with these terms, the moments of their schedule and their faults, in force until `until`
  /// (CLOCK_MONOTONIC). Throws std::system_error that names what is missing.
  EdtPrograms(const edt_terms& terms, std::span<const edt_moment> moments, std::span<const edt_fault> faults,
              Nanoseconds until);
  ~EdtPrograms();
  EdtPrograms(EdtPrograms&&) noexcept;
  EdtPrograms& operator=(EdtPrograms&&) noexcept;

  int arrive() const;  ///< descriptors, for filters
  int depart() const;

  /// The terms are in force until then. Throws std::system_error.
  void renew(Nanoseconds until);

  /// What the packets have left behind so far. Throws std::system_error.
  edt_state state() const;

 private:
  struct Deleter {
    void operator()(edt_programs* programs) const;
  };
  std::unique_ptr<edt_programs, Deleter> programs_;
};

}  // namespace longhaul::degen
