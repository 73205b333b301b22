// Whether this is built with a sanitizer, whose shadow and slowness make memory and times those of another program.
#pragma once

namespace longhaul {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace longhaul
