// Makes any text safe for its place: markup, a script's data, an address. Names come from other
// people's files.
#pragma once
#include <string>
#include <string_view>

namespace gradcast {

/// The text made clean, and safe in the text and the quoted attributes of HTML and SVG.
std::string escape_markup(std::string_view text);

/// JSON that may stand in a <script>: '<', '>' and '&' as \u003c, \u003e and \u0026.
std::string escape_script_json(std::string_view json);

/// The text in a form that may follow "data:text/csv;charset=utf-8," in a quoted attribute.
std::string escape_data_uri(std::string_view text);

}  // namespace gradcast
