// How a process sees that it is a child: fork(2) runs no code of ours, but a page can be wiped by it.
#pragma once

namespace longhaul::registration {

/// A page of its own, kPageSize bytes, whose first byte is 1 in this process and 0 in every child: MADV_WIPEONFORK,
/// madvise(2). Who asked for it unmaps it. Throws std::system_error.
char* page_that_a_child_finds_wiped();

}  // namespace longhaul::registration
