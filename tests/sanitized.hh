// Whether the programs run under a sanitizer, whose shadow and slowness make memory and times those of other programs.
#pragma once

namespace longhaul::testing_support {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace longhaul::testing_support
