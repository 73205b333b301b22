#include "degen/engines/edt/programs.hh"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "common/error.hh"
#include "common/log.hh"

// The generated code is C.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#include "degen/engines/edt/programs.skel.h"
#pragma GCC diagnostic pop

namespace longhaul::degen {
namespace {

constexpr std::uint32_t kFirst = 0;

// What libbpf says goes beside the error that we give, which names the remedy.
int pass_on(libbpf_print_level level, const char* format, va_list arguments) {
  if (level == LIBBPF_DEBUG) return 0;
  char text[512];
  std::vsnprintf(text, sizeof text, format, arguments);
  std::string_view line{text};
  while (line.ends_with('\n')) line.remove_suffix(1);
  log::debug("libbpf: {}", line);
  return 0;
}

[[noreturn]] void refuse_to_load(int error) {
  if (error == EPERM || error == EACCES)
    throw_errno("load the programs of engine edt (they need CAP_BPF and CAP_NET_ADMIN)", error);
  if (error == ENOSYS) throw_errno("load the programs of engine edt (this kernel has no BPF)", error);
  // Its verifier looks types up that it has itself (Linux 6.12; btf_is_prog_ctx_type()).
  if (error == EINVAL && ::access("/sys/kernel/btf/vmlinux", F_OK) != 0)
    throw_errno("load the programs of engine edt (this kernel was built without CONFIG_DEBUG_INFO_BTF)", error);
  throw_errno("load the programs of engine edt", error);
}

template <typename T>
void write(bpf_map* map, const T& value, std::uint32_t place = kFirst) {
  if (const int result = bpf_map__update_elem(map, &place, sizeof place, &value, sizeof value, BPF_ANY); result < 0)
    throw_errno("write to a map of engine edt", -result);
}

}  // namespace

EdtPrograms::EdtPrograms(const edt_terms& terms, std::span<const edt_moment> moments, std::span<const edt_fault> faults,
                         Nanoseconds until) {
  libbpf_set_print(pass_on);
  programs_.reset(edt_programs__open());
  if (!programs_) refuse_to_load(errno);
  // A map without a place cannot be made.
  const auto places = static_cast<std::uint32_t>(std::max(moments.size(), std::size_t{1}));
  if (const int result = bpf_map__set_max_entries(programs_->maps.moments, places); result < 0) refuse_to_load(-result);
  if (const int result = edt_programs__load(programs_.get()); result < 0) refuse_to_load(-result);
  write(programs_->maps.terms, terms);
  for (std::uint32_t i = 0; i < moments.size(); ++i) write(programs_->maps.moments, moments[i], i);
  if (terms.numbered != 0)
    for (std::uint32_t i = 0; i < faults.size(); ++i) write(programs_->maps.faults, faults[i], i);
  renew(until);
}

EdtPrograms::~EdtPrograms() = default;
EdtPrograms::EdtPrograms(EdtPrograms&&) noexcept = default;
EdtPrograms& EdtPrograms::operator=(EdtPrograms&&) noexcept = default;

void EdtPrograms::Deleter::operator()(edt_programs* programs) const {
  edt_programs__destroy(programs);
}

int EdtPrograms::arrive() const {
  return bpf_program__fd(programs_->progs.arrive);
}

int EdtPrograms::depart() const {
  return bpf_program__fd(programs_->progs.depart);
}

void EdtPrograms::renew(Nanoseconds until) {
  write(programs_->maps.lease, static_cast<std::uint64_t>(until.count()));
}

edt_state EdtPrograms::state() const {
  edt_link link{};
  if (const int result =
          bpf_map__lookup_elem(programs_->maps.link, &kFirst, sizeof kFirst, &link, sizeof link, BPF_F_LOCK);
      result < 0)
    throw_errno("read a map of engine edt", -result);
  return link.state;
}

}  // namespace longhaul::degen
