#include "degen/engines/nfqueue/nft.hh"

#include <new>

namespace longhaul::degen {

Nft::Nft() : context_(nft_ctx_new(NFT_CTX_DEFAULT)) {
  if (!context_ || nft_ctx_buffer_output(context_.get()) != 0 || nft_ctx_buffer_error(context_.get()) != 0)
    throw std::bad_alloc{};
}

Result<std::string> Nft::run(const std::string& commands) {
  const int result = nft_run_cmd_from_buffer(context_.get(), commands.c_str());
  // Reading the buffers empties them, so both are read.
  const std::string output = nft_ctx_get_output_buffer(context_.get());
  const std::string error = nft_ctx_get_error_buffer(context_.get());
  if (result != 0) return fail("nft: {}", error.substr(0, error.find('\n')));
  return output;
}

}  // namespace longhaul::degen
