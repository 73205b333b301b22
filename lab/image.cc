#include "lab/image.hh"

#include "lab/builder.hh"

namespace longhaul::lab {
namespace {

Result<Image> image_by(const std::string& name, const std::vector<std::string>& arguments) {
  auto made = run_builder(name, arguments, "the lab's image");
  if (!made) return tl::unexpected(made.error());
  return Image{.kernel = (*made)["kernel"],
               .base = (*made)["base"],
               .programs = (*made)["programs"],
               .release = (*made)["release"],
               .disk = (*made)["disk"]};
}

}  // namespace

Result<Image> build_image(const std::vector<std::string>& programs, const KernelChoice& kernel) {
  const auto settled = settle_kernel(kernel);
  if (!settled) return tl::unexpected(settled.error());
  std::vector<std::string> arguments;
  if (!settled->kernel.empty()) arguments.insert(arguments.end(), {"--kernel", settled->kernel});
  if (!settled->modules.empty()) arguments.insert(arguments.end(), {"--modules", settled->modules});
  arguments.insert(arguments.end(), programs.begin(), programs.end());
  return image_by("image/build", arguments);
}

Result<Image> build_system_image() {
  return image_by("image/systems", {});
}

}  // namespace longhaul::lab
