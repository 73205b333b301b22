#include "workloads/transport/ucx/library.hh"

#include <dlfcn.h>

namespace longhaul::workloads::ucx {
namespace {

constexpr const char* kFile = "libucp.so.0";

struct Loaded {
  Library calls;
  std::string why_not;
};

Loaded load() {
  Loaded loaded;
  void* const handle = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL);  // stays until the process ends
  if (handle == nullptr) {
    loaded.why_not = fmt::format("transport ucx needs {}, package libucx0: {}", kFile, ::dlerror());
    return loaded;
  }
  const auto find = [&](auto& call, const char* name) {
    call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(::dlsym(handle, name));
    if (call == nullptr)
      loaded.why_not = fmt::format("transport ucx needs UCX 1.11 or newer: {} has no {}", kFile, name);
  };
  auto& calls = loaded.calls;
  find(calls.config_read, "ucp_config_read");
  find(calls.config_modify, "ucp_config_modify");
  find(calls.config_release, "ucp_config_release");
  find(calls.init_version, "ucp_init_version");
  find(calls.cleanup, "ucp_cleanup");
  find(calls.worker_create, "ucp_worker_create");
  find(calls.worker_destroy, "ucp_worker_destroy");
  find(calls.worker_get_address, "ucp_worker_get_address");
  find(calls.worker_release_address, "ucp_worker_release_address");
  find(calls.worker_get_efd, "ucp_worker_get_efd");
  find(calls.worker_arm, "ucp_worker_arm");
  find(calls.worker_progress, "ucp_worker_progress");
  find(calls.mem_map, "ucp_mem_map");
  find(calls.mem_unmap, "ucp_mem_unmap");
  find(calls.rkey_pack, "ucp_rkey_pack");
  find(calls.rkey_buffer_release, "ucp_rkey_buffer_release");
  find(calls.ep_rkey_unpack, "ucp_ep_rkey_unpack");
  find(calls.rkey_destroy, "ucp_rkey_destroy");
  find(calls.ep_create, "ucp_ep_create");
  find(calls.ep_close_nbx, "ucp_ep_close_nbx");
  find(calls.ep_flush_nbx, "ucp_ep_flush_nbx");
  find(calls.tag_send_nbx, "ucp_tag_send_nbx");
  find(calls.tag_recv_nbx, "ucp_tag_recv_nbx");
  find(calls.put_nbx, "ucp_put_nbx");
  find(calls.get_nbx, "ucp_get_nbx");
  find(calls.request_free, "ucp_request_free");
  find(calls.request_cancel, "ucp_request_cancel");
  find(calls.request_check_status, "ucp_request_check_status");
  find(calls.get_version_string, "ucp_get_version_string");
  find(calls.status_string, "ucs_status_string");
  return loaded;
}

}  // namespace

Attempt<const Library*> library() {
  static const auto loaded = load();
  if (!loaded.why_not.empty()) return unsupported("{}", loaded.why_not);
  return &loaded.calls;
}

}  // namespace longhaul::workloads::ucx
