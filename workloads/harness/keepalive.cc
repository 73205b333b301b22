#include "workloads/harness/keepalive.hh"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "common/error.hh"

namespace longhaul::workloads {

void keep_alive(int fd) {
  const auto set = [fd](int level, int option, int value) {
    check(::setsockopt(fd, level, option, &value, sizeof value), "set TCP keep-alive");
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(IPPROTO_TCP, TCP_KEEPCNT, 4);
}

}  // namespace longhaul::workloads
