// systemd's watchdog (WatchdogSec=, sd_notify(3)): a service that does not say that it is alive is killed and
// restarted.
#pragma once

#include "common/fd.hh"

namespace longhaul {

class Watchdog {
 public:
  /// Of the service manager that started this process; none (NOTIFY_SOCKET is not set): beat() does nothing.
  Watchdog();
  explicit operator bool() const { return static_cast<bool>(socket_); }
  void beat() const;

 private:
  OwnFd socket_;
};

}  // namespace longhaul
