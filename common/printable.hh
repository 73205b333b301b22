// Other people's words on a terminal and in a log.
#pragma once

#include <string>
#include <string_view>

namespace longhaul {

/// The text without anything that a terminal obeys: control characters (C0, DEL, C1), marks that turn the direction of
/// writing, and what is no UTF-8 become escapes such as "\x1b" or "\u202e". Tabs stay. A line feed stays, too, and the
/// line that follows is indented: so nobody's words look like a line of ours.
std::string printable(std::string_view text);

/// The same for a text of ours that has their words in it, such as a table: its line feeds stay as they are.
std::string printable_document(std::string_view text);

}  // namespace longhaul
