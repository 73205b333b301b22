// longhaul pki init, issue, revoke, list.
#include <boost/json.hpp>
#include <memory>

#include "agents/identity/pki.hh"
#include "orchestrator/cli/commands.hh"

namespace longhaul::orchestrator {
namespace {

namespace json = boost::json;

struct PkiOptions {
  std::string directory = "pki";
  std::string role;
  std::string name;
  std::string certificate;
  std::string serial;
  int days = 365;
  bool replace = false;
  bool as_json = false;
};

void print(const PkiOptions& options, const json::object& document, const std::string& text) {
  fmt::print("{}\n", options.as_json ? json::serialize(document) : text);
}

int init(const PkiOptions& options) {
  if (auto made = agents::pki_init(options.directory); !made) return report_error(made.error(), options.as_json);
  print(options, {{"ca", options.directory + "/ca.pem"}},
        fmt::format("{0}/ca.pem goes to every node; {0}/ca.key stays here and is shown to nobody", options.directory));
  return 0;
}

int issue(const PkiOptions& options) {
  const auto role = options.role == "agent" ? agents::PeerRole::agent : agents::PeerRole::controller;
  const agents::Validity validity{.lifetime = std::chrono::hours{24} * options.days};
  const auto files =
      agents::pki_issue(options.directory, {.role = role, .name = options.name}, validity, options.replace);
  if (!files) return report_error(files.error(), options.as_json);
  json::object document{{"ca", files->ca.string()},
                        {"cert", files->cert.string()},
                        {"key", files->key.string()},
                        {"serial", files->serial}};
  if (!files->replaced.empty()) document["replaced"] = files->replaced;
  print(options, document, fmt::format("{}\n{}", files->cert.string(), files->key.string()));
  if (!files->replaced.empty())
    fmt::print(stderr,
               "the certificate that it replaces is in force still; if its key is in other hands: "
               "longhaul pki revoke --dir {} --serial {}\n",
               options.directory, files->replaced);
  return 0;
}

int revoke(const PkiOptions& options) {
  const auto revoked = options.serial.empty() ? agents::pki_revoke(options.directory, options.certificate)
                                              : agents::pki_revoke_serial(options.directory, options.serial);
  if (!revoked) return report_error(revoked.error(), options.as_json);
  json::object document{{"crl", options.directory + "/crl.pem"}, {"serial", revoked->serial}};
  std::string whose = "no certificate of that number is kept here, so compare it once more";
  if (const auto& identity = revoked->identity) {
    const std::string role{word(identity->role)};
    document["role"] = role;
    document["name"] = identity->name;
    whose = fmt::format("{} {}", role, identity->name);
  }
  print(options, document,
        fmt::format("revoked {} ({}); copy {}/crl.pem beside ca.pem on every node", revoked->serial, whose,
                    options.directory));
  return 0;
}

int list(const PkiOptions& options) {
  const auto issued = agents::pki_list(options.directory);
  if (!issued) return report_error(issued.error(), options.as_json);
  const auto authority = agents::pki_term(options.directory);
  if (!authority) return report_error(authority.error(), options.as_json);
  const auto now = std::chrono::system_clock::now();
  json::array rows;
  std::string text, notices;
  for (const auto& one : *issued) {
    const std::string role{word(one.identity.role)};
    const auto* state = one.revoked ? "revoked" : one.identity.term.end <= now ? "expired" : "valid";
    const auto expires = agents::iso_time(one.identity.term.end);
    rows.push_back({{"file", one.file.string()},
                    {"role", role},
                    {"name", one.identity.name},
                    {"serial", one.identity.serial},
                    {"expires", expires},
                    {"state", state},
                    {"current", one.current}});
    text += fmt::format("{}{:10} {:20} {:8} {:8} until {}  {}  {}", text.empty() ? "" : "\n", role, one.identity.name,
                        one.current ? "" : "replaced", state, expires, one.identity.serial, one.file.string());
    // What was replaced or revoked may end.
    if (!one.current || one.revoked) continue;
    if (const auto notice = agents::expiry_notice(one.identity.term, now); !notice.empty())
      notices += fmt::format("\nWARNING the certificate of {0} {1} {2}: longhaul pki issue {0} {1} --replace", role,
                             one.identity.name, notice);
  }
  if (const auto notice = agents::expiry_notice(*authority, now); !notice.empty())
    notices += fmt::format("\nWARNING the authority's own certificate {}, and with it all that it issued", notice);
  print(options, {{"certificates", rows}, {"expires", agents::iso_time(authority->end)}},
        (text.empty() ? "nothing issued" : text) + notices);
  return 0;
}

}  // namespace

void add_pki(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<PkiOptions>();
  auto* pki =
      app.add_subcommand("pki", "the testbed's own certificate authority: who may be an agent, who may command them");
  pki->require_subcommand(1);
  pki->footer(
      "Examples:\n  longhaul pki init\n  longhaul pki issue controller me\n  longhaul pki issue agent node1\n"
      "  longhaul pki revoke pki/agent-node1.pem\n  longhaul pki revoke --serial 74CC58E254568808C2872D6147A88C45");
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
  auto* which = three->add_option_group("which", "one of them");
  which->add_option("CERT", options->certificate, "its file");
  which->add_option("--serial", options->serial, "its number, of `pki list` or an audit log: of one that was replaced")
      ->type_name("HEX");
  which->require_option(1);
  common(three);
  three->footer(
      "Examples:\n  longhaul pki revoke pki/agent-node1.pem\n"
      "  longhaul pki revoke --serial 74CC58E254568808C2872D6147A88C45");
  three->callback([options, &exit_code] { exit_code = revoke(*options); });

  auto* four = pki->add_subcommand("list", "what was ever issued, and what expires soon");
  common(four);
  four->callback([options, &exit_code] { exit_code = list(*options); });
}

}  // namespace longhaul::orchestrator
