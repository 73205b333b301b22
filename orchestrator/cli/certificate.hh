// A certificate's file.
#pragma once

#include <string>

#include "common/result.hh"
#include "model/certificate.hh"

namespace longhaul::orchestrator {

/// Errors name the file.
Result<Certificate> read_certificate(const std::string& file);

}  // namespace longhaul::orchestrator
