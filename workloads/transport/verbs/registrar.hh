// Memory registration over verbs: ibv_reg_mr and ibv_dereg_mr in one protection domain.
#pragma once

#include "registration/cache/executor.hh"
#include "workloads/transport/verbs/owners.hh"

namespace longhaul::workloads {

/// The access rights of any region of ours. A read's destination is written by the peer's adapter over iWARP.
inline constexpr int kRegionAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

class VerbsRegistrar final : public registration::Registrar {
 public:
  explicit VerbsRegistrar(ibv_pd* domain) : domain_(domain) {}

  tl::expected<Registered, int> add(registration::Pages pages) override;
  int remove(Handle handle) override;

 private:
  ibv_pd* domain_;
};

}  // namespace longhaul::workloads
