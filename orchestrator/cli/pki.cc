// longhaul pki init, issue, revoke, list.
#include <boost/json.hpp>
#include <memory>

#include "agents/identity/pki.hh"
#include "orchestrator/cli/commands.hh"

namespace longhaul::orchestrator {
namespace {

namespace json = boost::json;

struct Options {
  std::string directory = "pki";
  std::string role;
  std::string name;
  std::string certificate;
  int days = 365;
  bool replace = false;
  bool as_json = false;
};

void print(const Options& options, const json::object& document, const std::string& text) {
  fmt::print("{}\n", options.as_json ? json::serialize(document) : text);
}

int init(const Options& options) {
  if (auto made = agents::pki_init(options.directory); !made) return report_error(made.error(), options.as_json);
  print(options, {{"ca", options.directory + "/ca.pem"}},
        fmt::format("{0}/ca.pem goes to every node; {0}/ca.key stays here and is shown to nobody", options.directory));
  return 0;
}

int issue(const Options& options) {
  const auto role = options.role == "agent" ? agents::PeerRole::agent : agents::PeerRole::controller;
  const agents::Validity validity{.lifetime = std::chrono::hours{24} * options.days};
  const auto files =
      agents::pki_issue(options.directory, {.role = role, .name = options.name}, validity, options.replace);
  if (!files) return report_error(files.error(), options.as_json);
  print(options, {{"ca", files->ca.string()}, {"cert", files->cert.string()}, {"key", files->key.string()}},
        fmt::format("{}\n{}", files->cert.string(), files->key.string()));
  return 0;
}

int revoke(const Options& options) {
  if (auto revoked = agents::pki_revoke(options.directory, options.certificate); !revoked)
    return report_error(revoked.error(), options.as_json);
  print(options, {{"crl", options.directory + "/crl.pem"}},
        fmt::format("revoked; copy {}/crl.pem beside ca.pem on every node", options.directory));
  return 0;
}

int list(const Options& options) {
  const auto issued = agents::pki_list(options.directory);
  if (!issued) return report_error(issued.error(), options.as_json);
  json::array rows;
  std::string text;
  for (const auto& one : *issued) {
    const auto* role = boost::describe::enum_to_string(one.identity.role, "?");
    const auto* state = one.revoked ? "revoked" : one.expired ? "expired" : "valid";
    rows.push_back({{"file", one.file.string()},
                    {"role", role},
                    {"name", one.identity.name},
                    {"serial", one.identity.serial},
                    {"expires", one.expires},
                    {"state", state}});
    text += fmt::format("{}{:10} {:20} {:8} until {}  {}", text.empty() ? "" : "\n", role, one.identity.name, state,
                        one.expires, one.file.string());
  }
  print(options, {{"certificates", rows}}, text.empty() ? "nothing issued" : text);
  return 0;
}

}  // namespace

void add_pki(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<Options>();
  auto* pki =
      app.add_subcommand("pki", "the testbed's own certificate authority: who may be an agent, who may command them");
  pki->require_subcommand(1);
  pki->footer(
      "Examples:\n  longhaul pki init\n  longhaul pki issue controller me\n  longhaul pki issue agent node1\n"
      "  longhaul pki revoke pki/agent-node1.pem");
  const auto common = [&](CLI::App* command) {
    command->add_option("--dir", options->directory, "the authority's folder")->capture_default_str();
    command->add_flag("--json", options->as_json, "print one JSON document");
  };

  auto* one = pki->add_subcommand("init", "make an authority");
  common(one);
  one->footer("Example:\n  longhaul pki init --dir pki");
  one->callback([options, &exit_code] { exit_code = init(*options); });

  auto* two = pki->add_subcommand("issue", "issue a certificate with a new key");
  two->add_option("ROLE", options->role, "controller or agent")
      ->required()
      ->check(CLI::IsMember({"controller", "agent"}));
  two->add_option("NAME", options->name, "an agent's is its node's name in the inventory")->required();
  two->add_option("--days", options->days, "how long it is valid")->check(CLI::Range(1, 36500))->capture_default_str();
  two->add_flag("--replace", options->replace, "even if there is one of that name");
  common(two);
  two->footer("Example:\n  longhaul pki issue agent node1");
  two->callback([options, &exit_code] { exit_code = issue(*options); });

  auto* three = pki->add_subcommand("revoke", "put a certificate on the authority's revocation list");
  three->add_option("CERT", options->certificate, "its file")->required();
  common(three);
  three->footer("Example:\n  longhaul pki revoke pki/agent-node1.pem");
  three->callback([options, &exit_code] { exit_code = revoke(*options); });

  auto* four = pki->add_subcommand("list", "what was issued");
  common(four);
  four->callback([options, &exit_code] { exit_code = list(*options); });
}

}  // namespace longhaul::orchestrator
