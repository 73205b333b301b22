#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "agents/identity/credentials.hh"
#include "agents/identity/memory_credentials.hh"
#include "agents/identity/pki.hh"

namespace longhaul::agents {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class Directory {
 public:
  Directory() {
    std::string name = (fs::temp_directory_path() / "longhaul-pki-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Directory() { fs::remove_all(path_); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

Credentials credentials(const IssuedFiles& files) {
  return {.ca = files.ca.string(), .cert = files.cert.string(), .key = files.key.string()};
}

/// Both ends' view of a handshake in memory.
struct Handshake {
  bool client_ok = false;
  bool server_ok = false;
  std::string client_error;  ///< of the verification of the server
  std::string server_error;
  Result<Identity> seen_by_server = Identity{};
  Result<Identity> seen_by_client = Identity{};
  std::string version;
};

Handshake shake(const SslContext& client_context, const SslContext& server_context) {
  std::unique_ptr<SSL, decltype(&SSL_free)> client{SSL_new(client_context.get()), SSL_free};
  std::unique_ptr<SSL, decltype(&SSL_free)> server{SSL_new(server_context.get()), SSL_free};
  BIO* a = nullptr;
  BIO* b = nullptr;
  BIO_new_bio_pair(&a, 0, &b, 0);
  SSL_set_bio(client.get(), a, a);
  SSL_set_bio(server.get(), b, b);
  SSL_set_connect_state(client.get());
  SSL_set_accept_state(server.get());
  Handshake result;
  for (int i = 0; i < 10; ++i) {
    if (SSL_do_handshake(client.get()) == 1) result.client_ok = true;
    if (SSL_do_handshake(server.get()) == 1) result.server_ok = true;
  }
  result.client_error = verify_error(client.get());
  result.server_error = verify_error(server.get());
  result.seen_by_server = peer_identity(server.get());
  result.seen_by_client = peer_identity(client.get());
  result.version = SSL_get_version(server.get());
  return result;
}

Handshake shake(const IssuedFiles& client, const IssuedFiles& server) {
  auto c = make_ssl_context(credentials(client), TlsSide::client);
  auto s = make_ssl_context(credentials(server), TlsSide::server);
  if (!c || !s) {
    ADD_FAILURE() << (!c ? c.error().message : s.error().message);
    return {};
  }
  return shake(*c, *s);
}

class Pki : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(pki_init(dir())); }
  fs::path dir() const { return directory_.path() / "pki"; }
  IssuedFiles issue(PeerRole role, const std::string& name, Validity validity = {}) {
    auto files = pki_issue(dir(), {role, name}, validity);
    if (!files) throw std::runtime_error(files.error().message);
    return *files;
  }
  /// The files as somebody has them who took them.
  IssuedFiles copy_of(IssuedFiles files) const {
    for (auto* file : {&files.cert, &files.key}) {
      const auto taken = directory_.path() / file->filename();
      fs::copy_file(*file, taken);
      *file = taken;
    }
    return files;
  }
  Directory directory_;
};

TEST(Uri, RoundTripAndRefusals) {
  const Identity identity{PeerRole::agent, "node-1.example"};
  EXPECT_EQ(to_uri(identity), "urn:longhaul:agent:node-1.example");
  EXPECT_EQ(*identity_from_uri(to_uri(identity)), identity);
  for (const auto* bad :
       {"", "urn:longhaul:agent:", "urn:longhaul:root:x", "urn:longhaul:agent:a b", "urn:longhaul:agent:a/b",
        "urn:longhaul:agent:-x", "http://longhaul:agent:x", "urn:longhaul:agent:a,URI:urn:longhaul:controller:x"})
    EXPECT_FALSE(identity_from_uri(bad)) << bad;
  EXPECT_FALSE(identity_from_uri("urn:longhaul:agent:" + std::string(64, 'a')));
}

TEST(CheckIdentity, SaysWhoItIsInstead) {
  EXPECT_TRUE(check_identity({PeerRole::agent, "a"}, PeerRole::agent));
  EXPECT_TRUE(check_identity({PeerRole::agent, "a"}, PeerRole::agent, "a"));
  EXPECT_THAT(check_identity({PeerRole::agent, "a"}, PeerRole::controller).error().message,
              HasSubstr("expected a certificate for a controller, got one for agent 'a'"));
  EXPECT_THAT(check_identity({PeerRole::agent, "a"}, PeerRole::agent, "b").error().message,
              HasSubstr("expected the certificate of agent 'b', got that of 'a'"));
}

// A key that the authority never sees.
TEST_F(Pki, CertifiesTheKeyOfSomebodyElse) {
  const auto pair = make_key_pair();
  EXPECT_THAT(pair.key, HasSubstr("PRIVATE KEY"));
  EXPECT_THAT(pair.public_key, ::testing::Not(HasSubstr("PRIVATE KEY")));
  const auto cert = pki_certify(dir(), {PeerRole::agent, "node"}, pair.public_key);
  ASSERT_TRUE(cert) << cert.error().message;
  std::ifstream authority{dir() / "ca.pem"};
  const std::string ca{std::istreambuf_iterator<char>{authority}, {}};
  const MemoryCredentials there{ca, *cert, pair.key};
  const auto server = make_ssl_context(there.credentials(), TlsSide::server);
  ASSERT_TRUE(server) << server.error().message;
  const auto result =
      shake(*make_ssl_context(credentials(issue(PeerRole::controller, "me")), TlsSide::client), *server);
  EXPECT_TRUE(result.client_ok && result.server_ok) << result.client_error << result.server_error;
  EXPECT_EQ(*result.seen_by_client, (Identity{PeerRole::agent, "node"}));
  // It is known, so that it can be revoked; nothing has its name.
  const auto listed = pki_list(dir());
  ASSERT_TRUE(listed);
  EXPECT_TRUE(std::any_of(listed->begin(), listed->end(), [](const auto& one) { return one.identity.name == "node"; }));
  EXPECT_FALSE(fs::exists(dir() / "agent-node.pem"));

  const auto refusal = [&](const std::string& key) {
    return pki_certify(dir(), {PeerRole::agent, "node"}, key).error().message;
  };
  EXPECT_THAT(refusal("nonsense"), HasSubstr("no public key in PEM format"));
  EXPECT_THAT(refusal(pair.key), HasSubstr("no public key in PEM format"));
  const std::string of_rsa =
      "-----BEGIN PUBLIC KEY-----\n"
      "MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBALoMEl7RvybYzIR+Y1foyfcw5Y4nTFlf\n"
      "w3teU6M6mWzn5TBFMUzBrpJku9GUERaOj25+tJeWtvoBWaPo0yHhX4sCAwEAAQ==\n"
      "-----END PUBLIC KEY-----\n";
  EXPECT_THAT(refusal(of_rsa), HasSubstr("of another kind than ECDSA P-256"));
  const std::string of_p384 =
      "-----BEGIN PUBLIC KEY-----\n"
      "MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEZ98rqO0wNkea48mlWniuLqcbV4/FjI8u\n"
      "8Rt+H/onb1nlE/NhzFji0hRO3dSXpEa7P//dvW7B7SUq+JSCRu0qsO9OufrHg3U+\n"
      "vVp0dWIJfrO39JzdSPux4rpH3JE2zAUM\n"
      "-----END PUBLIC KEY-----\n";
  EXPECT_THAT(refusal(of_p384), HasSubstr("of another kind than ECDSA P-256"));
  EXPECT_FALSE(pki_certify(dir(), {PeerRole::agent, "a/b"}, pair.public_key));
}

TEST_F(Pki, BothSidesKnowEachOther) {
  const auto result = shake(issue(PeerRole::controller, "me"), issue(PeerRole::agent, "node"));
  EXPECT_TRUE(result.client_ok && result.server_ok) << result.client_error << result.server_error;
  EXPECT_EQ(result.version, "TLSv1.3");
  ASSERT_TRUE(result.seen_by_server);
  EXPECT_EQ(*result.seen_by_server, (Identity{PeerRole::controller, "me"}));
  EXPECT_THAT(result.seen_by_server->serial, ::testing::MatchesRegex("[0-9A-F]{32}"));
  EXPECT_NE(result.seen_by_server->serial, result.seen_by_client->serial);
  EXPECT_EQ(*result.seen_by_client, (Identity{PeerRole::agent, "node"}));
}

TEST_F(Pki, KeysAreTheirOwnersAlone) {
  const auto files = issue(PeerRole::agent, "node");
  for (const auto& key : {files.key, dir() / "ca.key"}) {
    struct stat status {};
    ASSERT_EQ(::stat(key.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u) << key;
  }
  fs::permissions(files.key, fs::perms::group_read, fs::perm_options::add);
  EXPECT_THAT(make_ssl_context(credentials(files), TlsSide::server).error().message, HasSubstr("chmod 600"));
}

TEST_F(Pki, RefusesAnotherAuthority) {
  const auto other = directory_.path() / "other";
  ASSERT_TRUE(pki_init(other));
  const auto stranger = pki_issue(other, {PeerRole::controller, "me"});
  ASSERT_TRUE(stranger);
  // It trusts our authority, so that the agent is the one who refuses.
  auto client = make_ssl_context(
      {.ca = (dir() / "ca.pem").string(), .cert = stranger->cert.string(), .key = stranger->key.string()},
      TlsSide::client);
  auto server = make_ssl_context(credentials(issue(PeerRole::agent, "node")), TlsSide::server);
  ASSERT_TRUE(client && server);
  const auto result = shake(*client, *server);
  EXPECT_FALSE(result.server_ok);
  EXPECT_THAT(result.server_error, HasSubstr("issuer certificate"));
}

TEST_F(Pki, RefusesNoCertificateAndOldTls) {
  auto server = make_ssl_context(credentials(issue(PeerRole::agent, "node")), TlsSide::server);
  ASSERT_TRUE(server);
  const SslContext nobody{SSL_CTX_new(TLS_client_method())};
  EXPECT_FALSE(shake(nobody, *server).server_ok);
  auto old = make_ssl_context(credentials(issue(PeerRole::controller, "me")), TlsSide::client);
  SSL_CTX_set_min_proto_version(old->get(), TLS1_2_VERSION);
  SSL_CTX_set_max_proto_version(old->get(), TLS1_2_VERSION);
  EXPECT_FALSE(shake(*old, *server).server_ok);
}

TEST_F(Pki, RefusesExpired) {
  const auto now = std::chrono::system_clock::now();
  const auto result =
      shake(issue(PeerRole::controller, "late", {.from = now - 48h, .lifetime = 24h}), issue(PeerRole::agent, "node"));
  EXPECT_FALSE(result.server_ok);
  EXPECT_THAT(result.server_error, HasSubstr("expired"));
  const auto early = shake(issue(PeerRole::controller, "early", {.from = now + 48h, .lifetime = 24h}),
                           issue(PeerRole::agent, "node2"));
  EXPECT_FALSE(early.server_ok);
  EXPECT_THAT(early.server_error, HasSubstr("not yet valid"));
}

TEST_F(Pki, RefusesRevokedAtOnce) {
  const auto agent = issue(PeerRole::agent, "node");
  const auto good = issue(PeerRole::controller, "good");
  const auto lost = issue(PeerRole::controller, "lost");
  const auto before = fingerprint(credentials(agent));
  EXPECT_TRUE(shake(lost, agent).server_ok);
  ASSERT_TRUE(pki_revoke(dir(), lost.cert));
  ASSERT_TRUE(pki_revoke(dir(), lost.cert));  // twice is no error
  EXPECT_NE(fingerprint(credentials(agent)), before);
  const auto result = shake(lost, agent);
  EXPECT_FALSE(result.server_ok);
  EXPECT_THAT(result.server_error, HasSubstr("revoked"));
  EXPECT_TRUE(shake(good, agent).server_ok);
  ASSERT_TRUE(pki_revoke(dir(), agent.cert));
  EXPECT_FALSE(shake(good, agent).client_ok);

  const auto list = pki_list(dir());
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_THAT(*list, SizeIs(3));
  EXPECT_EQ((*list)[0].identity, (Identity{PeerRole::agent, "node"}));
  EXPECT_TRUE((*list)[0].revoked);
  EXPECT_FALSE((*list)[1].revoked);
  EXPECT_TRUE((*list)[2].revoked);
}

TEST_F(Pki, ACertificateThatWasReplacedIsKeptAndCanBeRevoked) {
  const auto agent = issue(PeerRole::agent, "node");
  const auto first = issue(PeerRole::controller, "me");
  const auto stolen = copy_of(first);
  const auto second = pki_issue(dir(), {PeerRole::controller, "me"}, {}, true);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->replaced, first.serial);
  EXPECT_NE(second->serial, first.serial);
  EXPECT_TRUE(shake(stolen, agent).server_ok) << "it is in force until it is revoked";

  const auto revoked = pki_revoke_serial(dir(), first.serial);
  ASSERT_TRUE(revoked) << revoked.error().message;
  EXPECT_EQ(revoked->identity, (Identity{PeerRole::controller, "me"}));
  EXPECT_THAT(shake(stolen, agent).server_error, HasSubstr("revoked"));
  EXPECT_TRUE(shake(*second, agent).server_ok);

  const auto list = pki_list(dir());
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_THAT(*list, SizeIs(3));
  EXPECT_TRUE((*list)[1].current && !(*list)[1].revoked);
  EXPECT_EQ((*list)[1].identity.serial, second->serial);
  EXPECT_EQ((*list)[1].file, second->cert);
  EXPECT_TRUE(!(*list)[2].current && (*list)[2].revoked);
  EXPECT_EQ((*list)[2].identity.serial, first.serial);
  // What is revoked already need not be told of again.
  ASSERT_TRUE(pki_revoke(dir(), second->cert));
  EXPECT_EQ(pki_issue(dir(), {PeerRole::controller, "me"}, {}, true)->replaced, "");
}

TEST_F(Pki, OneFromBeforeCertificatesWereKeptIsKeptWhenItIsReplaced) {
  const auto first = issue(PeerRole::agent, "node");
  fs::remove_all(dir() / "issued");
  EXPECT_THAT(*pki_list(dir()), SizeIs(1));
  ASSERT_TRUE(pki_issue(dir(), {PeerRole::agent, "node"}, {}, true));
  EXPECT_TRUE(fs::exists(dir() / "issued" / (first.serial + ".pem")));
}

TEST_F(Pki, ANumberIsRevokedWhetherItsCertificateIsThereOrNot) {
  const auto agent = issue(PeerRole::agent, "node");
  const auto lost = issue(PeerRole::controller, "lost");
  const auto stolen = copy_of(lost);
  fs::remove_all(dir() / "issued");
  fs::remove(lost.cert);
  auto small = lost.serial;
  for (auto& c : small) c = static_cast<char>(std::tolower(c));
  const auto revoked = pki_revoke_serial(dir(), small);
  ASSERT_TRUE(revoked) << revoked.error().message;
  EXPECT_EQ(revoked->serial, lost.serial);
  EXPECT_FALSE(revoked->identity) << "nobody knows whose it is: the user is to look again";
  EXPECT_THAT(shake(stolen, agent).server_error, HasSubstr("revoked"));
  for (const auto* bad : {"", "74CC", "74CC58E254568808C2872D6147A88C4g", "74CC58E254568808C2872D6147A88C4500"})
    EXPECT_THAT(pki_revoke_serial(dir(), bad).error().message, HasSubstr("32 hexadecimal digits")) << bad;
}

TEST_F(Pki, CommandsAtOnceLoseNothing) {
  constexpr int kThreads = 8;
  std::vector<std::jthread> commands;
  for (int i = 0; i < kThreads; ++i)
    commands.emplace_back([this, i] {
      const auto files = pki_issue(dir(), {PeerRole::controller, fmt::format("c{}", i)});
      if (!files || !pki_revoke(dir(), files->cert)) ADD_FAILURE();
    });
  commands.clear();
  const auto list = pki_list(dir());
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_THAT(*list, SizeIs(kThreads));
  for (const auto& one : *list) EXPECT_TRUE(one.revoked) << one.file;
}

TEST_F(Pki, ALockThatLeadsElsewhereIsNotFollowed) {
  fs::remove(dir() / ".lock");
  fs::create_symlink(directory_.path() / "elsewhere", dir() / ".lock");
  EXPECT_THROW((void)pki_issue(dir(), {PeerRole::agent, "node"}), std::system_error);
  EXPECT_FALSE(fs::exists(directory_.path() / "elsewhere"));
}

TEST_F(Pki, AnUnreadableRevocationListAdmitsNobody) {
  const auto agent = issue(PeerRole::agent, "node");
  std::ofstream(dir() / "crl.pem") << "rubbish\n";
  EXPECT_THAT(make_ssl_context(credentials(agent), TlsSide::server).error().message,
              HasSubstr("crl.pem: no revocation list"));
}

TEST_F(Pki, ARevocationListThatIsGoneAdmitsNobody) {
  const auto agent = credentials(issue(PeerRole::agent, "node"));
  fs::rename(dir() / "crl.pem", dir() / "kept");
  EXPECT_TRUE(make_ssl_context(agent, TlsSide::server)) << "there never was one, as far as it knows";
  fs::rename(dir() / "kept", dir() / "crl.pem");
  const auto copy = agent;
  EXPECT_TRUE(make_ssl_context(copy, TlsSide::server));
  fs::rename(dir() / "crl.pem", dir() / "kept");
  const auto refused = make_ssl_context(agent, TlsSide::server);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("crl.pem: the list of revoked certificates was there and is gone"));
  EXPECT_THAT(refused.error().message, HasSubstr("copy the authority's crl.pem there"));
  EXPECT_FALSE(make_ssl_context(agent, TlsSide::client)) << "a controller does the same";
  fs::rename(dir() / "kept", dir() / "crl.pem");
  EXPECT_TRUE(make_ssl_context(agent, TlsSide::server));
}

TEST_F(Pki, APeerIsWatchedForRevocationAndExpiry) {
  const auto own = credentials(issue(PeerRole::agent, "node"));
  ASSERT_TRUE(make_ssl_context(own, TlsSide::server));
  const auto peer = issue(PeerRole::controller, "me");
  const auto identity = own_identity(credentials(peer));
  ASSERT_TRUE(identity);
  const auto now = std::chrono::system_clock::now();
  PeerWatch watch{own, *identity};
  EXPECT_EQ(watch.objection(now), "");
  EXPECT_EQ(watch.objection(identity->term.end - 1s), "");
  EXPECT_THAT(watch.objection(identity->term.end), HasSubstr("has expired, on "));
  EXPECT_EQ(watch.objection(now), "");
  ASSERT_TRUE(pki_revoke(dir(), peer.cert));
  // A list that is gone for the moment is waited for: new peers are refused meanwhile.
  fs::rename(dir() / "crl.pem", dir() / "kept");
  EXPECT_EQ(watch.objection(now), "");
  fs::rename(dir() / "kept", dir() / "crl.pem");
  EXPECT_EQ(watch.objection(now), "was revoked");
}

TEST(Expiry, IsToldAMonthAheadOrInTheLastQuarter) {
  const WallTime begin = std::chrono::sys_days{std::chrono::year{2026} / 1 / 1};
  const Term year{.begin = begin, .end = begin + 24h * 365};
  EXPECT_EQ(expiry_notice(year, begin), "");
  EXPECT_EQ(expiry_notice(year, year.end - 24h * 30 - 1s), "");
  EXPECT_EQ(expiry_notice(year, year.end - 24h * 30), "expires in 30 days, on 2027-01-01T00:00:00Z");
  EXPECT_EQ(expiry_notice(year, year.end - 36h), "expires in 36 hours, on 2027-01-01T00:00:00Z");
  EXPECT_EQ(expiry_notice(year, year.end - 1s), "expires in 0 hours, on 2027-01-01T00:00:00Z");
  EXPECT_EQ(expiry_notice(year, year.end), "has expired, on 2027-01-01T00:00:00Z");
  const Term week{.begin = begin, .end = begin + 24h * 8};
  EXPECT_EQ(expiry_notice(week, begin + 24h * 6 - 1s), "");
  EXPECT_THAT(expiry_notice(week, begin + 24h * 6), HasSubstr("expires in 2 days"));
  EXPECT_EQ(expiry_notice({}, begin), "") << "of one who showed no certificate nothing is known";
}

TEST_F(Pki, ExpiryOfOnesOwnCertificateComesWithTheRemedy) {
  const auto now = std::chrono::system_clock::now();
  EXPECT_THAT(*expiry_warnings(credentials(issue(PeerRole::agent, "node")), now), SizeIs(0));
  const auto late = credentials(issue(PeerRole::agent, "late", {.from = now - 24h * 50, .lifetime = 24h * 60}));
  const auto warnings = expiry_warnings(late, now);
  ASSERT_TRUE(warnings) << warnings.error().message;
  ASSERT_THAT(*warnings, SizeIs(1));
  EXPECT_THAT(warnings->front(), HasSubstr("agent-late.pem: this certificate expires in 9 days, on "));
  EXPECT_THAT(warnings->front(), HasSubstr("longhaul pki issue agent late --replace"));
  // Of the authority, too.
  EXPECT_THAT(expiry_warnings(late, now + 24h * 3640)->back(), HasSubstr("ca.pem: this certificate expires in "));
}

TEST_F(Pki, ACertificateServesItsOwnSideOnly) {
  const auto a = issue(PeerRole::agent, "a");
  const auto b = issue(PeerRole::agent, "b");
  const auto c = issue(PeerRole::controller, "c");
  const auto agent_calls = shake(a, b);
  EXPECT_FALSE(agent_calls.server_ok);
  EXPECT_THAT(agent_calls.server_error, HasSubstr("purpose"));
  const auto controller_listens = shake(c, c);
  EXPECT_FALSE(controller_listens.client_ok);
}

TEST_F(Pki, ErrorsNameTheFileAndTheRemedy) {
  EXPECT_THAT(pki_init(dir()).error().message, HasSubstr("has an authority already"));
  EXPECT_THAT(pki_issue(dir(), {PeerRole::agent, "../x"}).error().message, HasSubstr("expected a name"));
  EXPECT_THAT(pki_issue(directory_.path() / "none", {PeerRole::agent, "x"}).error().message,
              HasSubstr("longhaul pki init"));
  const auto files = issue(PeerRole::agent, "node");
  EXPECT_THAT(pki_issue(dir(), {PeerRole::agent, "node"}).error().message, HasSubstr("exists already"));
  EXPECT_TRUE(pki_issue(dir(), {PeerRole::agent, "node"}, {}, true));
  auto wrong = credentials(files);
  wrong.key = issue(PeerRole::agent, "other").key.string();
  EXPECT_THAT(make_ssl_context(wrong, TlsSide::server).error().message, HasSubstr("does not belong to"));
  wrong.key = "/nowhere/key";
  EXPECT_THAT(make_ssl_context(wrong, TlsSide::server).error().message, HasSubstr("/nowhere/key: No such file"));
  wrong.cert = (dir() / "ca.key").string();
  EXPECT_THAT(make_ssl_context(wrong, TlsSide::server).error().message, HasSubstr("no certificate in PEM format"));
  const auto other = directory_.path() / "other";
  ASSERT_TRUE(pki_init(other));
  EXPECT_THAT(pki_revoke(other, files.cert).error().message, HasSubstr("was not issued by"));
  EXPECT_EQ(*own_identity(credentials(files)), (Identity{PeerRole::agent, "node"}));
}

}  // namespace
}  // namespace longhaul::agents
