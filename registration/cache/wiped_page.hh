// How a process sees that it is a child: fork(2) runs no code of ours, but a page can be wiped by it.
#pragma once

namespace longhaul::registration {

/// A page of this process, never unmapped, whose first byte is 1 here and 0 in every child: MADV_WIPEONFORK,
/// madvise(2). Throws std::system_error.
char* page_that_a_child_finds_wiped();

}  // namespace longhaul::registration
