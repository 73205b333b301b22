#include "lab/state.hh"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/error.hh"
#include "common/log.hh"
#include "common/replace_file.hh"
#include "lab/machine.hh"
#include "model/codec.hh"

namespace longhaul::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 32;

/// Field 22 of /proc/PID/stat; 0 when there is no such process. The name in field 2 may hold anything, so count from
/// its end.
std::uint64_t start_of(std::int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(file, line)) return 0;
  std::istringstream fields(line.substr(line.rfind(')') + 2));
  std::string field;
  for (int number = 3; number < 22; ++number) fields >> field;
  std::uint64_t start = 0;
  fields >> start;
  return start;
}

bool owner_lives(const LabState& state) {
  return state.owner_start != 0 && start_of(state.owner_pid) == state.owner_start;
}

bool is_stale(const std::string& name) {
  const auto state = load(name);
  // Claiming writes the file under the lock: a folder without one is what a killed claimer left.
  if (!state) return true;
  return (state->ephemeral || state->phase == "starting") && !owner_lives(*state);
}

/// One process at a time claims and cleans.
OwnFd lock() {
  const std::string path = labs_directory() + "/.lock";
  OwnFd file{check(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), "opening " + path)};
  check(::flock(file.get(), LOCK_EX), "locking " + path);
  return file;
}

void remove_locked(const std::string& name) {
  const std::string directory = lab_directory(name);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored))
    if (entry.path().extension() == ".pid")
      if (auto machine = Machine::find(entry.path().stem(), directory)) machine->stop();
  fs::remove_all(directory, ignored);
}

void clean_locked() {
  for (const std::string& name : lab_names())
    if (is_stale(name)) {
      log::info("removing lab '{}', whose owner is gone", name);
      remove_locked(name);
    }
}

}  // namespace

std::string labs_directory() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const std::string base =
      fmt::format("{}/longhaul-{}", runtime != nullptr && *runtime != '\0' ? runtime : "/tmp", ::getuid());
  if (::mkdir(base.c_str(), 0700) != 0 && errno != EEXIST) throw_errno("creating " + base);
  struct stat status {};
  check(::lstat(base.c_str(), &status), "looking at " + base);
  // In /tmp anybody could have made it first, and read the keys.
  if (!S_ISDIR(status.st_mode) || status.st_uid != ::getuid() || (status.st_mode & 0077) != 0)
    throw_errno(base + " is not a folder that this user alone may enter", EPERM);
  std::string labs = base + "/labs";
  if (::mkdir(labs.c_str(), 0700) != 0 && errno != EEXIST) throw_errno("creating " + labs);
  return labs;
}

std::string lab_directory(const std::string& name) {
  return labs_directory() + "/" + name;
}

Result<void> check_name(const std::string& name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  if (name.empty() || name.size() > kLongestName || !std::ranges::all_of(name, fits))
    return refuse("lab name '{}': expected 1 to {} letters, digits, '-' or '_'", name, kLongestName);
  return {};
}

Result<std::string> claim(LabState& state) {
  if (auto valid = check_name(state.name); !valid) return tl::unexpected(valid.error());
  const OwnFd locked = lock();
  clean_locked();
  const std::string directory = lab_directory(state.name);
  // The longest socket path (sun_path) holds 107 characters.
  if (directory.size() > 90)
    return refuse("the path {} is too long for unix sockets: set XDG_RUNTIME_DIR to a shorter one", directory);
  if (::mkdir(directory.c_str(), 0700) != 0) {
    if (errno != EEXIST) throw_errno("creating " + directory);
    const auto other = load(state.name);
    return refuse("lab '{}' is {} already: `longhaul lab down{}` ends it, another name starts one beside it",
                  state.name, other && other->phase == "up" ? "up" : "being started",
                  state.name == "default" ? "" : " --name " + state.name);
  }
  state.phase = "starting";
  state.owner_pid = ::getpid();
  state.owner_start = start_of(state.owner_pid);
  if (auto saved = save(state); !saved) return tl::unexpected(saved.error());
  return directory;
}

Result<void> save(const LabState& state) {
  return replace_file(lab_directory(state.name) + "/lab.json", boost::json::serialize(codec::encode(state)) + "\n");
}

std::optional<LabState> load(const std::string& name) {
  std::ifstream file(lab_directory(name) + "/lab.json");
  std::stringstream text;
  text << file.rdbuf();
  boost::system::error_code error;
  const auto value = read_json(text.str(), error);
  if (error) return {};
  auto state = codec::decode<LabState>(value);
  if (!state) return {};
  return std::move(*state);
}

void remove_lab(const std::string& name) {
  const OwnFd locked = lock();
  remove_locked(name);
}

void clean_stale() {
  const OwnFd locked = lock();
  clean_locked();
}

std::vector<std::string> lab_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(labs_directory()))
    if (entry.is_directory()) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

}  // namespace longhaul::lab
