#include "common/error.hh"

#include <cerrno>

#include "common/log.hh"

namespace longhaul {

void throw_errno(const std::string& attempted, int error) {
  throw std::system_error(error, std::generic_category(), attempted);
}

void throw_errno(const std::string& attempted) {
  throw_errno(attempted, errno);
}

std::string errno_text(int error) {
  return std::generic_category().message(error);
}

}  // namespace longhaul
