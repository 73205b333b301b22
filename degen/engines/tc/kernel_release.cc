#include "degen/engines/tc/kernel_release.hh"

#include <sys/utsname.h>

namespace longhaul::degen {

std::string kernel_release() {
  utsname kernel{};
  ::uname(&kernel);
  return kernel.release;
}

}  // namespace longhaul::degen
