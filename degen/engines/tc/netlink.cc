#include "degen/engines/tc/netlink.hh"

#include <netlink/errno.h>
#include <netlink/handlers.h>
#include <netlink/msg.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <vector>

#include "common/error.hh"

namespace longhaul::degen {
namespace {

// libnl's own error numbers lose the kernel's; its callback has them.
int note_error(sockaddr_nl*, nlmsgerr* error, void* out) {
  *static_cast<int*>(out) = -error->error;
  return NL_STOP;
}

int pass_on(nl_msg* message, void* each) {
  (*static_cast<const std::function<void(const nlmsghdr&)>*>(each))(*nlmsg_hdr(message));
  return NL_OK;
}

[[noreturn]] void throw_libnl(const char* attempted, int result) {
  throw std::system_error(EIO, std::generic_category(), fmt::format("{}: {}", attempted, nl_geterror(result)));
}

}  // namespace

RouteSocket::RouteSocket() : socket_(nl_socket_alloc()) {
  if (!socket_) throw std::bad_alloc{};
  if (const int result = nl_connect(socket_.get(), NETLINK_ROUTE); result < 0)
    throw_libnl("open a route netlink socket", result);
}

void RouteSocket::send(std::span<const std::byte> bytes) {
  std::vector<std::byte> copy{bytes.begin(), bytes.end()};
  const std::unique_ptr<nl_msg, void (*)(nl_msg*)> message{nlmsg_convert(reinterpret_cast<nlmsghdr*>(copy.data())),
                                                           nlmsg_free};
  if (!message) throw std::bad_alloc{};
  if (const int result = nl_send_auto(socket_.get(), message.get()); result < 0)
    throw_libnl("send a netlink request", result);
}

int RouteSocket::request(std::span<const std::byte> message) {
  int error = 0;
  nl_socket_modify_err_cb(socket_.get(), NL_CB_CUSTOM, note_error, &error);
  send(message);
  const int result = nl_wait_for_ack(socket_.get());
  if (error != 0) return error;
  if (result < 0) throw_libnl("wait for a netlink acknowledgement", result);
  return 0;
}

void RouteSocket::dump(std::span<const std::byte> message, const std::function<void(const nlmsghdr&)>& each) {
  int error = 0;
  nl_socket_modify_err_cb(socket_.get(), NL_CB_CUSTOM, note_error, &error);
  nl_socket_modify_cb(socket_.get(), NL_CB_VALID, NL_CB_CUSTOM, pass_on,
                      const_cast<std::function<void(const nlmsghdr&)>*>(&each));
  send(message);
  const int result = nl_recvmsgs_default(socket_.get());
  nl_socket_modify_cb(socket_.get(), NL_CB_VALID, NL_CB_DEFAULT, nullptr, nullptr);
  if (error != 0) throw_errno("list what controls the traffic", error);
  if (result < 0) throw_libnl("list what controls the traffic", result);
}

}  // namespace longhaul::degen
