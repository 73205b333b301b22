// Member-wise codec between described structs (Boost.Describe) and Boost.JSON. Tolerant of what a newer peer adds
// (unknown keys are ignored) and of absent optionals, lists and maps; an absent plain member is an error that names its
// path. Heavy to compile: include it in .cc files only, and give your struct to_json/from_json functions there.
#pragma once

#include <boost/describe.hpp>
#include <boost/json.hpp>
#include <boost/mp11.hpp>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "common/json.hh"
#include "common/result.hh"

namespace longhaul::codec {

namespace json = boost::json;

template <typename T>
json::value encode(const T& value);
template <typename T>
Result<T> decode(const json::value& value, const std::string& path = "");

namespace detail {

template <typename T>
struct is_optional : std::false_type {};
template <typename T>
struct is_optional<std::optional<T>> : std::true_type {};
template <typename T>
struct is_vector : std::false_type {};
template <typename T>
struct is_vector<std::vector<T>> : std::true_type {};
template <typename T>
struct is_map : std::false_type {};
template <typename T>
struct is_map<std::map<std::string, T>> : std::true_type {};
template <typename T>
struct is_variant : std::false_type {};
template <typename... T>
struct is_variant<std::variant<T...>> : std::true_type {};

template <typename T>
inline constexpr bool may_be_absent = is_optional<T>::value || is_vector<T>::value || is_map<T>::value;

template <typename T>
using Members = boost::describe::describe_members<T, boost::describe::mod_public | boost::describe::mod_inherited>;

inline std::string at(const std::string& path, std::string_view key) {
  return path.empty() ? std::string{key} : fmt::format("{}.{}", path, key);
}

inline tl::unexpected<Error> expected(const std::string& path, std::string_view what, const json::value& got) {
  auto text = json::serialize(got);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return refuse("{}: expected {}, got {}", path.empty() ? "document" : path, what, text);
}

template <typename T, std::size_t I = 0>
Result<T> decode_variant(const json::value& value, const std::string& path) {
  if constexpr (I < std::variant_size_v<T>) {
    if (auto one = decode<std::variant_alternative_t<I, T>>(value, path)) return T{std::move(*one)};
    return decode_variant<T, I + 1>(value, path);
  } else {
    return expected(path, "a value of another type", value);
  }
}

}  // namespace detail

template <typename T>
json::value encode(const T& value) {
  if constexpr (std::is_same_v<T, bool> || std::is_arithmetic_v<T>) {
    return json::value(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return json::value(json::string_view(value));
  } else if constexpr (std::is_same_v<T, std::chrono::nanoseconds>) {
    return json::value(static_cast<std::int64_t>(value.count()));
  } else if constexpr (std::is_same_v<T, json::value>) {
    return value;
  } else if constexpr (std::is_enum_v<T>) {
    return json::value(boost::describe::enum_to_string(value, "?"));
  } else if constexpr (detail::is_optional<T>::value) {
    return value ? encode(*value) : json::value(nullptr);
  } else if constexpr (detail::is_vector<T>::value) {
    json::array array;
    array.reserve(value.size());
    for (const auto& item : value) array.push_back(encode(item));
    return array;
  } else if constexpr (detail::is_map<T>::value) {
    json::object object;
    for (const auto& [key, item] : value) object.emplace(key, encode(item));
    return object;
  } else if constexpr (detail::is_variant<T>::value) {
    return std::visit([](const auto& item) { return encode(item); }, value);
  } else {
    json::object object;
    boost::mp11::mp_for_each<detail::Members<T>>([&](auto d) {
      const auto& member = value.*d.pointer;
      using M = std::remove_cvref_t<decltype(member)>;
      if constexpr (detail::is_optional<M>::value) {
        if (!member) return;  // absent, not null
      }
      object.emplace(d.name, encode(member));
    });
    return object;
  }
}

template <typename T>
Result<T> decode(const json::value& value, const std::string& path) {
  if constexpr (std::is_same_v<T, bool>) {
    if (const auto* b = value.if_bool()) return *b;
    return detail::expected(path, "true or false", value);
  } else if constexpr (std::is_integral_v<T>) {
    json::error_code ec;
    const auto number = value.to_number<T>(ec);
    if (value.is_double() || ec) return detail::expected(path, "an integer in range", value);
    return number;
  } else if constexpr (std::is_floating_point_v<T>) {
    json::error_code ec;
    const auto number = value.to_number<T>(ec);
    // 1e999 is read as infinity, and written as a word that is no JSON: nobody could read the document again.
    if (ec || !std::isfinite(number)) return detail::expected(path, "a number", value);
    return number;
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (const auto* s = value.if_string()) return std::string{s->data(), s->size()};
    return detail::expected(path, "a string", value);
  } else if constexpr (std::is_same_v<T, std::chrono::nanoseconds>) {
    auto count = decode<std::int64_t>(value, path);
    if (!count) return tl::unexpected(count.error());
    return std::chrono::nanoseconds{*count};
  } else if constexpr (std::is_same_v<T, json::value>) {
    return value;
  } else if constexpr (std::is_enum_v<T>) {
    T result{};
    const auto* s = value.if_string();
    if (s != nullptr && boost::describe::enum_from_string(std::string{s->data(), s->size()}.c_str(), result))
      return result;
    std::string names;
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>(
        [&](auto d) { names += (names.empty() ? "" : ", ") + std::string{d.name}; });
    return detail::expected(path, "one of " + names, value);
  } else if constexpr (detail::is_optional<T>::value) {
    if (value.is_null()) return T{};
    auto item = decode<typename T::value_type>(value, path);
    if (!item) return tl::unexpected(item.error());
    return T{std::move(*item)};
  } else if constexpr (detail::is_vector<T>::value) {
    const auto* array = value.if_array();
    if (array == nullptr) return detail::expected(path, "a list", value);
    T result;
    result.reserve(array->size());
    for (std::size_t i = 0; i < array->size(); ++i) {
      auto item = decode<typename T::value_type>((*array)[i], fmt::format("{}[{}]", path, i));
      if (!item) return tl::unexpected(item.error());
      result.push_back(std::move(*item));
    }
    return result;
  } else if constexpr (detail::is_map<T>::value) {
    const auto* object = value.if_object();
    if (object == nullptr) return detail::expected(path, "an object", value);
    T result;
    for (const auto& [key, item] : *object) {
      auto decoded = decode<typename T::mapped_type>(item, detail::at(path, std::string_view{key.data(), key.size()}));
      if (!decoded) return tl::unexpected(decoded.error());
      result.emplace(std::string{key.data(), key.size()}, std::move(*decoded));
    }
    return result;
  } else if constexpr (detail::is_variant<T>::value) {
    return detail::decode_variant<T>(value, path);
  } else {
    const auto* object = value.if_object();
    if (object == nullptr) return detail::expected(path, "an object", value);
    T result{};
    std::optional<Error> error;
    boost::mp11::mp_for_each<detail::Members<T>>([&](auto d) {
      if (error) return;
      auto& member = result.*d.pointer;
      using M = std::remove_cvref_t<decltype(member)>;
      const auto where = detail::at(path, d.name);
      const auto* found = object->if_contains(d.name);
      if (found == nullptr) {
        if (!detail::may_be_absent<M>) error = Error{where + ": missing"};
        return;
      }
      auto decoded = decode<M>(*found, where);
      if (decoded) {
        member = std::move(*decoded);
      } else {
        error = decoded.error();
      }
    });
    if (error) return tl::unexpected(*error);
    return result;
  }
}

/// Text -> T. The error names the offset of a syntax error or the path of a wrong member.
template <typename T>
Result<T> parse(std::string_view text) {
  json::error_code ec;
  // What was written must be read: a campaign's text in Latin-1, a message that was cut within a character.
  json::parse_options options;
  options.allow_invalid_utf8 = true;
  const auto value = read_json(text, ec, options);
  if (ec) return refuse("not a JSON document: {}", ec.message());
  return decode<T>(value);
}

template <typename T>
std::string serialize(const T& value) {
  return json::serialize(encode(value));
}

}  // namespace longhaul::codec
