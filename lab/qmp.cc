#include "lab/qmp.hh"

#include <fmt/format.h>
#include <sys/socket.h>

#include <boost/json.hpp>
#include <thread>

#include "common/error.hh"
#include "common/json.hh"

namespace longhaul::lab {
namespace {

namespace json = boost::json;

constexpr std::chrono::milliseconds kStopGlance{50};  // between looks at `stopped`
constexpr auto kBetweenQuestions = std::chrono::milliseconds{2};

std::string text_of(const json::object& object, const char* key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string{value->as_string()} : std::string{};
}

}  // namespace

Result<std::string> Qmp::line() {
  for (;;) {
    if (stopped_ && stopped_()) return tl::unexpected(Error{"interrupted", ExitCode::interrupted});
    if (std::chrono::steady_clock::now() > deadline_) return fail("QEMU did not get on in time");
    auto line = lines_.next(kStopGlance);
    if (!line) return fail("QEMU {}", line.error().message);
    if (*line) return std::move(**line);
  }
}

Result<void> Qmp::begin() {
  if (auto greeting = line(); !greeting) return tl::unexpected(greeting.error());
  if (auto open = execute("qmp_capabilities"); !open) return tl::unexpected(open.error());
  return {};
}

Result<std::string> Qmp::execute(const std::string& command, const std::string& arguments) {
  const auto request = fmt::format("{{\"execute\":\"{}\",\"arguments\":{}}}\n", command, arguments);
  if (::send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
    return fail("QEMU has ended");
  for (;;) {
    auto answer = line();
    if (!answer) return answer;
    const auto parsed = read_json(*answer).as_object();
    if (parsed.contains("event")) events_ += text_of(parsed, "event") + ' ';
    if (const auto* error = parsed.if_contains("error"))
      return fail("QEMU refuses {}: {}", command, text_of(error->as_object(), "desc"));
    if (const auto* value = parsed.if_contains("return")) return json::serialize(*value);
  }
}

Result<void> Qmp::await_event(const std::string& name) {
  while (events_.find(name + ' ') == std::string::npos) {
    auto said = line();
    if (!said) return tl::unexpected(said.error());
    const auto parsed = read_json(*said).as_object();
    if (parsed.contains("event")) events_ += text_of(parsed, "event") + ' ';
  }
  return {};
}

Result<void> Qmp::await_migration() {
  for (;;) {
    auto answer = execute("query-migrate");
    if (!answer) return tl::unexpected(answer.error());
    const auto state = read_json(*answer).as_object();
    const auto status = text_of(state, "status");
    if (status == "completed") return {};
    if (status == "failed" || status == "cancelled")
      return fail("QEMU cannot keep or copy the VM: {} {}", status, text_of(state, "error-desc"));
    std::this_thread::sleep_for(kBetweenQuestions);
  }
}

}  // namespace longhaul::lab
