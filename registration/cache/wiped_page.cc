#include "registration/cache/wiped_page.hh"

#include <sys/mman.h>

#include "common/error.hh"
#include "registration/cache/pages.hh"

namespace longhaul::registration {

char* page_that_a_child_finds_wiped() {
  void* page = ::mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw_errno("mapping a page");
  check(::madvise(page, kPageSize, MADV_WIPEONFORK), "asking for a page that is wiped in children");
  *static_cast<char*>(page) = 1;
  return static_cast<char*>(page);
}

}  // namespace longhaul::registration
