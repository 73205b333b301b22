// Reads JSON text (RFC 8259) with its numbers as they are written.
#pragma once

#include <boost/json/error.hpp>
#include <boost/json/parse_options.hpp>
#include <boost/json/value.hpp>
#include <string_view>

namespace longhaul {

/// As boost::json::parse(), but a number with a fraction or an exponent becomes the double nearest to it. Boost.JSON
/// 1.81 takes a neighbour for one in ten of 17 digits, so that a record that is read and written again differs from
/// what was measured. With `error` set the value is null.
boost::json::value read_json(std::string_view text, boost::json::error_code& error,
                             const boost::json::parse_options& options = {});
/// Of text that is JSON for certain. Throws boost::system::system_error.
boost::json::value read_json(std::string_view text);

}  // namespace longhaul
