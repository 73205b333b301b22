#include "results/store/address.hh"

#include <algorithm>
#include <fstream>
#include <vector>

#include "common/replace_file.hh"

namespace longhaul::results {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPointer = "store";
constexpr std::size_t kLongestName = 200;
constexpr std::size_t kLongestAddress = 4096;
constexpr std::string_view kExample = "postgresql://db.example.org/lab#quick";

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view{"._+-/"}.find(c) != std::string_view::npos;
  });
}

// A word with '%' in it may be one of them, written otherwise; none of libpq's has '@'.
bool is_secret(std::string_view word) {
  return word == "password" || word == "sslpassword" || word.find_first_of("%@") != std::string_view::npos;
}

// With an '@' that ends no user's name, whatever stands before it no longer.
std::string shown_option(const std::string& option) {
  std::string shown;
  for (const char c : option) shown += c == '@' ? std::string{"%40"} : std::string{c};
  return shown;
}

// As libpq reads it: a '?' before the '@' belongs to a user's name or password, which end at the first '/' at the
// latest.
struct Places {
  std::size_t host;   // behind "://"
  std::size_t at;     // '@'; npos: no user
  std::size_t query;  // '?'; url.size(): no options
};
Places places_of(const std::string& url) {
  Places places{.host = url.find("://") + 3, .at = std::string::npos, .query = 0};
  const auto at = url.substr(0, url.find('/', places.host)).rfind('@');
  if (at != std::string::npos && at >= places.host) places.at = at;
  places.query = std::min(url.find('?', places.at == std::string::npos ? places.host : places.at), url.size());
  return places;
}

// "NAME=VALUE", as they stand there.
std::vector<std::string> options_of(const std::string& url) {
  std::vector<std::string> options;
  for (auto begin = places_of(url).query + 1; begin < url.size();) {
    const auto end = std::min(url.find('&', begin), url.size());
    if (end > begin) options.push_back(url.substr(begin, end - begin));
    begin = end + 1;
  }
  return options;
}

std::string word_of(const std::string& option) {
  return option.substr(0, option.find('='));
}

}  // namespace

bool is_postgres(std::string_view address) {
  return address.starts_with("postgresql://") || address.starts_with("postgres://");
}

std::string PostgresAddress::text() const {
  const auto [host, at, query] = places_of(url);
  std::string shown = url.substr(0, host);
  if (at == std::string::npos) {
    shown += url.substr(host, query - host);
  } else {
    const auto user = url.substr(host, at - host);
    shown += user.substr(0, user.find(':')) + url.substr(at, query - at);
  }
  char separator = '?';
  for (const auto& option : options_of(url)) {
    if (is_secret(word_of(option))) continue;
    shown += separator + shown_option(option);
    separator = '&';
  }
  return campaign.empty() ? shown : shown + '#' + campaign;
}

Result<PostgresAddress> parse_postgres(std::string_view address) {
  if (!is_postgres(address) || address.size() > kLongestAddress)
    return refuse("'{}': no address of a PostgreSQL store: expected such as {}", address.substr(0, 200), kExample);
  const auto hash = address.rfind('#');
  PostgresAddress parsed{.url = std::string{address.substr(0, hash)}, .campaign = {}};
  if (hash == std::string_view::npos) return parsed;
  parsed.campaign = address.substr(hash + 1);
  if (!is_name(parsed.campaign))
    return refuse("{}: '{}' cannot be a campaign's name: letters, digits and . _ + - / only, {} at most", parsed.text(),
                  parsed.campaign.substr(0, kLongestName), kLongestName);
  return parsed;
}

std::string shown_address(const fs::path& address) {
  const auto parsed = is_postgres(address.native()) ? parse_postgres(address.native()) : refuse("a directory");
  return parsed ? parsed->text() : address.string();
}

Result<void> check_followed(const PostgresAddress& address) {
  constexpr std::string_view kFollowed[] = {"host", "port", "user", "dbname", "sslmode", "sslrootcert"};
  for (const auto& option : options_of(address.url))
    if (const auto word = word_of(option);
        std::find(std::begin(kFollowed), std::end(kFollowed), word) == std::end(kFollowed))
      return refuse("'{}' is no option that a file may set: name the address itself", word);
  return {};
}

Result<std::optional<PostgresAddress>> read_pointer(const fs::path& directory) {
  const auto path = directory / kPointer;
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file{path, std::ios::binary};
  std::string line;
  std::getline(file, line);
  auto address = parse_postgres(line);
  if (!address) return refuse("{}: {}", path.string(), address.error().message);
  if (address->campaign.empty())
    return refuse("{}: '{}' names no campaign: expected such as {}", path.string(), address->text(), kExample);
  if (auto followed = check_followed(*address); !followed)
    return refuse("{}: {}", path.string(), followed.error().message);
  return std::move(*address);
}

Result<void> write_pointer(const fs::path& directory, const PostgresAddress& address) {
  return replace_file(directory / kPointer, address.text() + "\n");
}

}  // namespace longhaul::results
