// nft commands by libnftables.
#pragma once

#include <nftables/libnftables.h>

#include <memory>
#include <string>

#include "common/result.hh"

namespace longhaul::degen {

class Nft {
 public:
  /// Throws std::bad_alloc.
  Nft();

  /// Runs commands in one transaction; an error is nft's own text. The string is what the commands printed.
  Result<std::string> run(const std::string& commands);

 private:
  struct Deleter {
    void operator()(nft_ctx* context) const { nft_ctx_free(context); }
  };
  std::unique_ptr<nft_ctx, Deleter> context_;
};

}  // namespace longhaul::degen
