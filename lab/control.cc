#include "lab/control.hh"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "common/child.hh"
#include "common/error.hh"
#include "lab/machine.hh"

namespace longhaul::lab {
namespace {

/// Makes a key and returns its public half, "ssh-ed25519 AAAA...".
std::string make_key(const std::string& path) {
  const std::string output = path + ".out";
  const OwnFd out{check(::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), "creating " + output)};
  Child child({.arguments = {"dropbearkey", "-t", "ed25519", "-f", path},
               .descriptors = {{out.get(), STDOUT_FILENO}, {out.get(), STDERR_FILENO}}});
  const auto ended = child.wait(std::chrono::seconds{30});
  std::istringstream lines(read_text(output));
  std::filesystem::remove(output);
  for (std::string line; std::getline(lines, line);)
    // Without its comment: dbclient takes a known_hosts line with one for another key.
    if (line.starts_with("ssh-ed25519 ")) return line.substr(0, line.find(' ', line.find(' ') + 1));
  throw std::runtime_error(
      fmt::format("dropbearkey made no key ({}): {}", ended ? ended->text() : "no answer", lines.str()));
}

/// From dropbear's form.
void to_openssh(const std::string& from, const std::string& to) {
  std::string complaint;
  const auto done = run_command({"dropbearconvert", "dropbear", "openssh", from, to}, &complaint);
  if (!done.exit.ok()) throw std::runtime_error(fmt::format("dropbearconvert {}: {}", from, complaint));
}

}  // namespace

std::vector<OverlayFile> make_keys(const std::string& directory, SshServer server) {
  // dbclient looks for known_hosts below $HOME.
  std::filesystem::create_directories(directory + "/home/.ssh");
  const std::string client = make_key(directory + "/key");
  const std::string host_path = directory + "/hostkey";
  const std::string host = make_key(host_path);
  std::ofstream(directory + "/home/.ssh/known_hosts") << "127.0.0.1 " << host << '\n';
  OverlayFile host_key{.path = "/etc/dropbear/hostkey", .bytes = read_text(host_path), .mode = 0600, .uid = 0};
  if (server == SshServer::openssh) {
    const auto converted = host_path + ".openssh";
    to_openssh(host_path, converted);
    host_key.path = "/etc/ssh/ssh_host_ed25519_key";
    host_key.bytes = read_text(converted);
    std::filesystem::remove(converted);
    to_openssh(directory + "/key", directory + "/id_ed25519");
  }
  std::filesystem::remove(host_path);
  return {std::move(host_key), {.path = "/root/.ssh/authorized_keys", .bytes = client + '\n', .mode = 0600, .uid = 0}};
}

std::string shell_quote(const std::string& word) {
  std::string out = "'";
  for (const char c : word) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + '\'';
}

RemoteCommand remote_command(const std::string& directory, std::uint16_t ssh_port, const std::string& node,
                             const std::vector<std::string>& command) {
  std::string line = "/etc/longhaul/node/" + node;
  for (const std::string& word : command) line += ' ' + shell_quote(word);
  return {.arguments = {"dbclient", "-T", "-i", directory + "/key", "-p", fmt::format("{}", ssh_port), "root@127.0.0.1",
                        line},
          .environment = {"HOME=" + directory + "/home"}};
}

}  // namespace longhaul::lab
