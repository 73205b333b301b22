// Where results are: the address on a command line, and the file `store` of a directory that somebody else made.
#include "results/store/address.hh"

#include "tests/fuzz/input.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace longhaul;
  const auto text = fuzz::text_of(data, size);
  const auto address = results::parse_postgres(text);
  fuzz::require(!results::shown_address(std::string{text}).empty() || text.empty(), "what was given is shown");
  if (!address) return 0;
  // What is shown is an address again, the same campaign, and shown the same: no part of a password is left.
  const auto again = results::parse_postgres(address->text());
  fuzz::require(again.has_value(), "what is shown is an address");
  fuzz::require(again->campaign == address->campaign, "of the same campaign");
  fuzz::require(again->text() == address->text(), "and shows nothing less");
  static_cast<void>(results::check_followed(*address));
  return 0;
}
