#include "agents/identity/memory_credentials.hh"

#include "common/memory_file.hh"

namespace longhaul::agents {

MemoryCredentials::MemoryCredentials(const std::string& ca, const std::string& cert, const std::string& key)
    : ca_(memory_file("ca.pem", ca)), cert_(memory_file("cert.pem", cert)), key_(memory_file("key.pem", key)) {}

Credentials MemoryCredentials::credentials() const {
  return {.ca = own_path(ca_), .cert = own_path(cert_), .key = own_path(key_)};
}

}  // namespace longhaul::agents
