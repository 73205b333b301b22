// Stands for the service manager that hears of a service by its NOTIFY_SOCKET (sd_notify(3)).
#pragma once

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "common/error.hh"
#include "common/fd.hh"

namespace longhaul::testing_support {

class ServiceManager {
 public:
  ServiceManager() {
    std::string name = (std::filesystem::temp_directory_path() / "longhaul-manager-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw_errno("make a folder");
    folder_ = name;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto where = path();
    std::memcpy(address.sun_path, where.data(), where.size());
    socket_ = OwnFd{check(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "create a unix socket")};
    check(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind a unix socket");
  }
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;
  ~ServiceManager() { std::filesystem::remove_all(folder_); }

  std::string path() const { return (folder_ / "notify").string(); }
  /// The next message; empty: none has come.
  std::string heard() const {
    char text[64];
    const auto size = ::recv(socket_.get(), text, sizeof text, 0);
    return size > 0 ? std::string{text, static_cast<std::size_t>(size)} : std::string{};
  }

 private:
  std::filesystem::path folder_;
  OwnFd socket_;
};

}  // namespace longhaul::testing_support
