#include "results/report/assets.hh"

// The assembler copies each file between two labels: a megabyte as a C++ array would take the compiler half a minute.
// NOLINTNEXTLINE
#define LONGHAUL_ASSET(name, path)                                                                                 \
  __asm__(                                                                                                         \
      ".pushsection .rodata\n"                                                                                     \
      ".global longhaul_asset_" #name "\n.hidden longhaul_asset_" #name                                            \
      "\n"                                                                                                         \
      ".global longhaul_asset_" #name "_end\n.hidden longhaul_asset_" #name                                        \
      "_end\n"                                                                                                     \
      "longhaul_asset_" #name ":\n.incbin \"" path "\"\nlonghaul_asset_" #name                                     \
      "_end:\n"                                                                                                    \
      ".byte 0\n.popsection\n");                                                                                   \
  extern "C" const char longhaul_asset_##name[];                                                                   \
  extern "C" const char longhaul_asset_##name##_end[];                                                             \
  namespace longhaul::results::assets {                                                                            \
  std::string_view name() {                                                                                        \
    return {longhaul_asset_##name, static_cast<std::size_t>(longhaul_asset_##name##_end - longhaul_asset_##name)}; \
  }                                                                                                                \
  }

LONGHAUL_ASSET(echarts, LONGHAUL_ECHARTS)
LONGHAUL_ASSET(shell_html, LONGHAUL_WEB "/shell.html")
LONGHAUL_ASSET(page_html, LONGHAUL_WEB "/page.html")
LONGHAUL_ASSET(page_css, LONGHAUL_WEB "/page.css")
LONGHAUL_ASSET(scale_js, LONGHAUL_WEB "/scale.js")
LONGHAUL_ASSET(page_js, LONGHAUL_PAGE)
LONGHAUL_ASSET(small_js, LONGHAUL_WEB "/small.js")
LONGHAUL_ASSET(comparison_html, LONGHAUL_WEB "/comparison.html")
LONGHAUL_ASSET(comparison_js, LONGHAUL_WEB "/comparison.js")
LONGHAUL_ASSET(history_html, LONGHAUL_WEB "/history.html")
LONGHAUL_ASSET(history_js, LONGHAUL_WEB "/history.js")
LONGHAUL_ASSET(simulation_html, LONGHAUL_WEB "/simulation.html")
LONGHAUL_ASSET(simulation_js, LONGHAUL_WEB "/simulation.js")
