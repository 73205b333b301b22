#include "workloads/suite/registration_cost/spec.hh"

#include "workloads/suite/parameters.hh"

namespace longhaul::workloads::registration_cost {
namespace {

std::vector<ParameterSpec> parameters() {
  return with_harness(
      {{.name = "size",
        .kind = Kind::size,
        .help = "bytes that are registered at a time",
        .fallback = Value{65536},
        .min = 1024,
        .max = std::int64_t{256} << 20,
        .choices = {}},
       {.name = "method",
        .kind = Kind::choice,
        .help =
            "what registers: reg_mr (ibv_reg_mr, from user space); window (binds a memory window of type 2 to a region "
            "that is registered already: another key for the same memory); kernel, kernel_fast (in the kernel, memory "
            "that is pinned already: allocating a region each time, or one allocated before; an analogue of the MRRC "
            "paper's by the lab's module longhaul_reg)",
        .fallback = Value{"reg_mr"},
        .choices = {"reg_mr", "window", "kernel", "kernel_fast"}},
       {.name = "pages",
        .kind = Kind::choice,
        .help = "of the memory: present; absent (mapped anew each time, never touched); file (of a file in the page "
                "cache)",
        .fallback = Value{"present"},
        .choices = {"present", "absent", "file"}},
       {.name = "page_size",
        .kind = Kind::size,
        .help = "4KiB, or 2MiB: huge pages, of which the system must have some free (sysctl vm.nr_hugepages)",
        .fallback = Value{4096},
        .min = 4096,
        .max = std::int64_t{2} << 20,
        .choices = {}},
       {.name = "trace",
        .kind = Kind::flag,
        .help = "afterwards trace twenty registrations for their steps, by the lab's helper; where there is none there "
                "are totals only",
        .fallback = Value{0},
        .choices = {}}});
}

std::vector<MetricSpec> metrics() {
  const auto time = [](const char* name, const char* help) {
    return MetricSpec{.name = name, .unit = "ns", .better = Better::lower, .help = help};
  };
  return {
      time("register", "until the memory may be used: ibv_reg_mr, or the method's like"),
      time("deregister", "ibv_dereg_mr, or the method's like"),
      time("map", "mapping the memory, before it is registered (pages absent)"),
      time("fault", "touching an absent page, a page"),
      time("zero", "clearing a page, a page: by the lab's module, on pages of its own"),
      time("pin", "pinning pages that are present, a page: by the lab's module"),
      time("unpin", "the same, back"),
      time("step_pinning", "of a traced registration: faulting in and pinning the pages"),
      time("step_translating",
           "of a traced registration: listing their addresses (the rest of ib_umem_get, or the "
           "driver's like)"),
      time("step_handing_over",
           "of a traced registration: what the driver does with the list; a software provider has "
           "no adapter to hand it to"),
      time("step_rest", "of a traced registration: the way into the kernel and back, and the tracing itself"),
  };
}

}  // namespace

WorkloadSpec spec() {
  return {
      .name = "registration",
      .summary = "what registering memory costs: register and deregister, again and again",
      .parameters = parameters(),
      .metrics = metrics(),
      .roles = {Role::local},
      .transports = transports_with(Capability::registration),
      .needs = {},
      .plot_axis = "size",
      .predict = {},
  };
}

}  // namespace longhaul::workloads::registration_cost
