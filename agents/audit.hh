// The audit log of a node, who ran what and when: one JSON document a line, appended to a file.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agents/identity/identity.hh"
#include "common/fd.hh"
#include "common/result.hh"
#include "model/parameter.hh"

namespace longhaul::agents {

enum class AuditKind {
  opened,        ///< the agent writes to this file from here on
  connected,     ///< a controller
  disconnected,  ///< `reason`
  refused,       ///< a connection, or with `run` or `request` what a controller asked for; `reason`
  started,       ///< `run` with `arguments`, as they were executed
  stopped,       ///< `run`, because the controller asked for it
  ended,         ///< `run`; `exit` says how
  impairment,    ///< `request` to this node's degen: apply or clear; `force`: also another's; with `reason` degen
                 ///< refused it
  lost           ///< `count` lines before this one could not be written
};
BOOST_DESCRIBE_ENUM(AuditKind, opened, connected, disconnected, refused, started, stopped, ended, impairment, lost)

struct AuditEvent {
  std::string time;  ///< ISO 8601, UTC, ms; the log's business, like `node`
  std::string node;
  AuditKind event = AuditKind::opened;
  std::optional<std::string> controller;
  std::optional<std::string> serial;  ///< of its certificate
  std::optional<std::string> from;    ///< ADDRESS:PORT
  std::optional<std::string> run;
  std::optional<std::vector<std::string>> arguments;
  std::optional<std::string> request;
  std::optional<std::string> engine;
  std::optional<Parameters> parameters;
  std::optional<bool> force;
  std::optional<std::string> exit;
  std::optional<std::string> reason;
  std::optional<std::uint64_t> count;  ///< connections refused beside this one that got no line of their own; see lost
};
BOOST_DESCRIBE_STRUCT(AuditEvent, (),
                      (time, node, event, controller, serial, from, run, arguments, request, engine, parameters, force,
                       exit, reason, count))

/// One line without its end: nothing but printable ASCII, whatever is in `event`, so that nobody can forge a line or
/// move the cursor of whoever reads it.
std::string to_line(const AuditEvent& event);

/// "2026-01-31T23:59:59.001Z" of CLOCK_REALTIME ns.
std::string audit_time(std::int64_t wall_time);

class AuditLog {
 public:
  /// No file: nothing is written.
  AuditLog() = default;
  /// Appends to `file`, made with mode 0640 where there is none. Refuses one that cannot be opened.
  static Result<AuditLog> open(std::string file, std::string node);

  /// Stamps time and node and writes one line by one write(2). A file that cannot take it (disk full) is said once and
  /// counted; when it takes lines again, the first says how many were lost. Never throws for that: a full disk must not
  /// end a node's runs.
  void write(AuditEvent event);

  /// Opens the file by its name anew: its old one was moved away. Keeps the old one where that fails, and says so.
  void reopen();

  std::uint64_t lost() const { return lost_; }

 private:
  bool put(AuditEvent event);

  std::string file_;
  std::string node_;
  OwnFd fd_;
  std::uint64_t lost_ = 0;
  bool torn_ = false;  ///< the last line was cut off in the middle
};

}  // namespace longhaul::agents
