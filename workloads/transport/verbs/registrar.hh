// Memory registration over verbs: ibv_reg_mr and ibv_dereg_mr in one protection domain.
#pragma once

#include "registration/cache/executor.hh"
#include "workloads/transport/plan.hh"
#include "workloads/transport/verbs/device.hh"
#include "workloads/transport/verbs/owners.hh"

namespace longhaul::workloads {

/// The access rights of a region that its peer may use in every way.
inline constexpr int kRegionAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
/// The part of a region's or a window's access that these rights are.
unsigned remote_access(Rights rights);
/// Of a region with these rights. Over iWARP the destination of a read has to be open to the peer's writes (RFC 5040,
/// section 5.2); siw does not ask for that.
int access_of(Rights rights, const RdmaDevice& device);

class VerbsRegistrar final : public registration::Registrar {
 public:
  VerbsRegistrar(ibv_pd* domain, int access) : domain_(domain), access_(access) {}

  tl::expected<Registered, int> add(registration::Pages pages) override;
  int remove(Handle handle) override;

 private:
  ibv_pd* domain_;
  int access_;
};

}  // namespace longhaul::workloads
