#include "orchestrator/cli/lab_session.hh"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "agents/identity/pki.hh"
#include "common/error.hh"
#include "common/scratch_folder.hh"
#include "lab/state.hh"
#include "orchestrator/cli/inventory.hh"

namespace longhaul::orchestrator {
namespace {

namespace fs = std::filesystem;

constexpr auto kLifetime = std::chrono::hours{24 * 30};

void write_private(const fs::path& path, const std::string& bytes) {
  std::ofstream out{path, std::ios::binary};
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  out << bytes;
  out.close();
  if (!out) throw_errno(fmt::format("write {}", path.string()));
}

struct Secrets {
  std::vector<lab::OverlayFile> files;  ///< for the guests
  std::string ca, cert, key;            ///< the controller's, PEM
};

Result<Secrets> make_secrets(const std::vector<std::string>& nodes) {
  const ScratchFolder scratch{"longhaul-pki"};  // while certificates are made, no longer
  const auto folder = scratch.path() / "pki";
  const agents::Validity validity{.lifetime = kLifetime};
  if (auto made = agents::pki_init(folder, "longhaul lab", validity); !made) return tl::unexpected(made.error());
  const auto issue = [&](agents::PeerRole role, const std::string& name) {
    return agents::pki_issue(folder, {.role = role, .name = name}, validity);
  };

  Secrets secrets;
  auto controller = issue(agents::PeerRole::controller, "longhaul");
  if (!controller) return tl::unexpected(controller.error());
  for (const auto& [file, text] : {std::pair{controller->ca, &secrets.ca}, std::pair{controller->cert, &secrets.cert},
                                   std::pair{controller->key, &secrets.key}}) {
    auto bytes = read_file(file.string());
    if (!bytes) return tl::unexpected(bytes.error());
    *text = std::move(*bytes);
  }
  secrets.files.push_back({.path = "/etc/longhaul/ca.pem", .bytes = secrets.ca, .mode = 0644});
  for (const auto& node : nodes) {
    auto agent = issue(agents::PeerRole::agent, node);
    if (!agent) return tl::unexpected(agent.error());
    auto cert = read_file(agent->cert.string());
    auto key = read_file(agent->key.string());
    if (!cert || !key) return tl::unexpected((cert ? key : cert).error());
    secrets.files.push_back(
        {.path = fmt::format("/etc/longhaul/agent-{}.pem", node), .bytes = std::move(*cert), .mode = 0644});
    secrets.files.push_back(
        {.path = fmt::format("/etc/longhaul/agent-{}.key", node), .bytes = std::move(*key), .mode = 0600});
  }
  return secrets;
}

}  // namespace

Result<lab::Lab> start_lab(lab::UpOptions options) {
  if (options.topology == lab::Topology::systems) {
    // Its authority is the collection's to make, as on any cluster.
    options.ca = "pki/ca.pem";
    options.cert = "pki/controller-longhaul.pem";
    options.key = "pki/controller-longhaul.key";
    return lab::up(options);
  }
  if (auto valid = lab::check_prefix(options.prefix); !valid) return tl::unexpected(valid.error());
  auto secrets = make_secrets(lab::node_names(options.clients, options.prefix));
  if (!secrets) return tl::unexpected(secrets.error());
  const fs::path folder = fs::path{lab::lab_directory(options.name)} / "pki";
  options.ca = (folder / "ca.pem").string();
  options.cert = (folder / "controller.pem").string();
  options.key = (folder / "controller.key").string();
  options.files = std::move(secrets->files);
  auto lab = lab::up(options);
  if (!lab) return lab;
  fs::create_directory(folder);
  write_private(options.ca, secrets->ca);
  write_private(options.cert, secrets->cert);
  write_private(options.key, secrets->key);
  return lab;
}

}  // namespace longhaul::orchestrator
