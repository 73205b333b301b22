#include "workloads/transport/verbs/registrar.hh"

namespace longhaul::workloads {

unsigned remote_access(Rights rights) {
  unsigned access = 0;
  if (rights == Rights::read || rights == Rights::all) access |= IBV_ACCESS_REMOTE_READ;
  if (rights == Rights::write || rights == Rights::all) access |= IBV_ACCESS_REMOTE_WRITE;
  return access;
}

int access_of(Rights rights, const RdmaDevice& device) {
  auto access = IBV_ACCESS_LOCAL_WRITE | remote_access(rights);
  if (device.iwarp && device.provider != "siw") access |= IBV_ACCESS_REMOTE_WRITE;
  return static_cast<int>(access);
}

tl::expected<registration::Registrar::Registered, int> VerbsRegistrar::add(registration::Pages pages) {
  auto* const address = reinterpret_cast<void*>(pages.first * registration::kPageSize);
  ibv_mr* const region = ::ibv_reg_mr(domain_, address, pages.count * registration::kPageSize, access_);
  if (region == nullptr) return tl::unexpected(errno);
  return Registered{reinterpret_cast<Handle>(region), {region->lkey, region->rkey}};
}

int VerbsRegistrar::remove(Handle handle) {
  return ::ibv_dereg_mr(reinterpret_cast<ibv_mr*>(handle));
}

}  // namespace longhaul::workloads
