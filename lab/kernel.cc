#include "lab/kernel.hh"

#include <filesystem>

namespace longhaul::lab {
namespace {

namespace fs = std::filesystem;

// As Debian names them: 6.12, 6.12.107+deb12-amd64, 6.1.0-56-amd64. What is none would be a pattern for the shell.
bool is_debian_name(const std::string& text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9' &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+~_-") ==
             std::string::npos;
}

}  // namespace

Result<KernelChoice> settle_kernel(const KernelChoice& asked) {
  if (!asked.own()) {
    if (!asked.modules.empty())
      return refuse("--modules {}: only a kernel of your own has its modules there: give its file, too, --kernel FILE",
                    asked.modules);
    if (!asked.kernel.empty() && !is_debian_name(asked.kernel))
      return refuse(
          "--kernel {}: expected a series (6.12), a release (6.12.107+deb12-amd64) or a file (./arch/x86/boot/bzImage)",
          asked.kernel);
    return asked;
  }
  std::error_code ignored;
  if (!fs::is_regular_file(asked.kernel, ignored)) return refuse("--kernel {}: no such file", asked.kernel);
  if (asked.modules.empty())
    return refuse(
        "--kernel {}: where are its modules? Give --modules, the folder lib/modules/RELEASE that `make "
        "modules_install` wrote",
        asked.kernel);
  if (!fs::exists(fs::path{asked.modules} / "modules.dep", ignored))
    return refuse(
        "--modules {}: no modules.dep in it; expected the folder lib/modules/RELEASE that `make modules_install` wrote",
        asked.modules);
  return KernelChoice{.kernel = fs::absolute(asked.kernel).lexically_normal().string(),
                      .modules = fs::canonical(asked.modules).string()};
}

std::string kernel_name(const KernelChoice& choice) {
  return choice.own() ? fs::path{choice.modules}.filename().string() : choice.kernel;
}

std::pair<std::string, std::string> names_apart(const KernelChoice& first, const KernelChoice& second) {
  const auto one = kernel_name(first), other = kernel_name(second);
  if (one == other) return {one + "-first", other + "-second"};
  return {one, other};
}

}  // namespace longhaul::lab
