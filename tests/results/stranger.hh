// The store of somebody who means harm: a campaign whose every string is his.
#pragma once

#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <functional>
#include <type_traits>

#include "tests/results/synthetic.hh"

namespace longhaul::results::stranger {

/// Markup that ends whatever it stands in, and would run. Without a slash, so that a metric's name can be it.
inline constexpr const char* kMarkup = "'\"><img src=x onerror=alert(1)>";
/// Ends the element that a page keeps its data in.
inline constexpr const char* kScript = "'\"></script><!--<script>alert(1)</script><img src=x onerror=alert(1)>";

/// What becomes of a string. The same string must become the same everywhere: ids name each other.
using Change = std::function<std::string(const std::string&)>;

/// Changes every string of a described struct: members, elements of lists, keys and values of maps, values of axes.
template <typename T>
void change_all(T& value, const Change& change) {
  if constexpr (std::is_same_v<T, std::string>) {
    value = change(value);
  } else if constexpr (std::is_same_v<T, Value>) {
    if (auto* text = std::get_if<std::string>(&value)) *text = change(*text);
  } else if constexpr (requires { typename T::mapped_type; }) {
    T changed;
    for (auto& [key, item] : value) {
      change_all(item, change);
      auto name = key;
      change_all(name, change);
      changed.emplace(std::move(name), std::move(item));
    }
    value = std::move(changed);
  } else if constexpr (requires { value.has_value(); }) {
    if (value) change_all(*value, change);
  } else if constexpr (requires { value.push_back(value[0]); }) {
    for (auto& item : value) change_all(item, change);
  } else if constexpr (boost::describe::has_describe_members<T>::value) {
    using Members = boost::describe::describe_members<T, boost::describe::mod_public | boost::describe::mod_inherited>;
    boost::mp11::mp_for_each<Members>([&](auto member) { change_all(value.*member.pointer, change); });
  }
}

/// A campaign with every cell's way to end, changed in this way.
synthetic::Campaign campaign(const Change& change);

/// The words of synthetic::vocabulary(), changed in this way.
Vocabulary vocabulary(const Change& change);

/// Adds the text to every word but those by which cells are told apart and paired: axes, transports, the provider
/// "kernel", and `kept`.
Change all_but_axes(const char* text, const std::vector<std::string>& kept = {});

}  // namespace longhaul::results::stranger
