#include "common/json.hh"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <boost/system/system_error.hpp>
#include <charconv>

namespace longhaul {
namespace {

namespace json = boost::json;

// What boost::json::parser builds its value with, but for on_double().
class Builder {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  Builder() { stack_.reset(); }
  json::value release() { return stack_.release(); }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) { return true; }
  bool on_object_end(std::size_t members, json::error_code&) { return stack_.push_object(members), true; }
  bool on_array_begin(json::error_code&) { return true; }
  bool on_array_end(std::size_t values, json::error_code&) { return stack_.push_array(values), true; }
  bool on_key_part(json::string_view part, std::size_t, json::error_code&) { return stack_.push_chars(part), true; }
  bool on_key(json::string_view rest, std::size_t, json::error_code&) { return stack_.push_key(rest), true; }
  bool on_string_part(json::string_view part, std::size_t, json::error_code&) { return stack_.push_chars(part), true; }
  bool on_string(json::string_view rest, std::size_t, json::error_code&) { return stack_.push_string(rest), true; }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(std::int64_t value, json::string_view, json::error_code&) { return stack_.push_int64(value), true; }
  bool on_uint64(std::uint64_t value, json::string_view, json::error_code&) { return stack_.push_uint64(value), true; }
  // The text comes in one piece, so `number` is the whole of it. Out of range is what Boost makes of it: 0, infinite.
  bool on_double(double about, json::string_view number, json::error_code&) {
    std::from_chars(number.data(), number.data() + number.size(), about);
    return stack_.push_double(about), true;
  }
  bool on_bool(bool value, json::error_code&) { return stack_.push_bool(value), true; }
  bool on_null(json::error_code&) { return stack_.push_null(), true; }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  json::value_stack stack_;
};

}  // namespace

json::value read_json(std::string_view text, json::error_code& error, const json::parse_options& options) {
  json::basic_parser<Builder> parser{options};
  const auto read = parser.write_some(false, text.data(), text.size(), error);
  if (!error && read < text.size()) error = json::make_error_code(json::error::extra_data);
  return error ? json::value{} : parser.handler().release();
}

json::value read_json(std::string_view text) {
  json::error_code error;
  auto value = read_json(text, error);
  if (error) throw boost::system::system_error{error};
  return value;
}

}  // namespace longhaul
