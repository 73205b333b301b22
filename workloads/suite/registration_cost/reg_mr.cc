#include <infiniband/verbs.h>

#include <algorithm>

#include "common/error.hh"
#include "observe/clock.hh"
#include "workloads/harness/session.hh"
#include "workloads/suite/registration_cost/method.hh"
#include "workloads/transport/verbs/registrar.hh"

namespace longhaul::workloads::registration_cost {
namespace {

class RegMr final : public Method {
 public:
  RegMr(const Adapter& adapter, Mapping& mapping) : adapter_(adapter), mapping_(mapping) {}

  Times once() override {
    const auto before = observe::raw_time();
    mapping_.renew();
    const auto began = observe::raw_time();
    MemoryRegion region{::ibv_reg_mr(adapter_.domain.get(), mapping_.data(), mapping_.size(), kRegionAccess)};
    const auto registered = observe::raw_time();
    if (!region)
      throw_errno(fmt::format("register {} bytes on {} (is the limit of locked memory, ulimit -l, large enough?)",
                              mapping_.size(), adapter_.device.name));
    const auto used = observe::raw_time();
    region = {};
    return {began - before, registered - began, observe::raw_time() - used};
  }

 private:
  const Adapter& adapter_;
  Mapping& mapping_;
};

}  // namespace

Adapter::Adapter(const std::string& name) {
  const auto devices = rdma_devices();
  const auto it = std::find_if(devices.begin(), devices.end(),
                               [&](const RdmaDevice& one) { return name.empty() || one.name == name; });
  if (it == devices.end())
    throw Unsupported(name.empty() ? "there is no RDMA device here: " + describe(devices)
                                   : fmt::format("there is no RDMA device {}; there is {}", name, describe(devices)));
  device = *it;
  int count = 0;
  ibv_device** const list = ::ibv_get_device_list(&count);
  if (list == nullptr) throw_errno("list the RDMA devices");
  for (int i = 0; i < count; ++i)
    if (device.name == ::ibv_get_device_name(list[i])) context = decltype(context){::ibv_open_device(list[i])};
  const int error = errno;
  ::ibv_free_device_list(list);
  if (!context) throw_errno("open the RDMA device " + device.name, error);
  domain = ProtectionDomain{::ibv_alloc_pd(context.get())};
  if (!domain) throw_errno("allocate a protection domain on " + device.name);
}

std::unique_ptr<Method> make_reg_mr(const Adapter& adapter, Mapping& mapping) {
  return std::make_unique<RegMr>(adapter, mapping);
}

}  // namespace longhaul::workloads::registration_cost
