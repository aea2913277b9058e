// Decides on colours, and adds them to text.
#pragma once
#include <string>
#include <string_view>

namespace gradcast {

enum class ColorChoice { Auto, Always, Never };

/// Circumstances that decide on colours beside the flag. Variables that are not set are "".
struct ColorCircumstances {
  bool terminal = false;  // whether the stream is one
  std::string_view term;
  std::string_view no_color;
  std::string_view clicolor_force;
};

/// Whether to colour. The flag comes first. Then NO_COLOR, if not empty, forbids colours, and
/// CLICOLOR_FORCE, if neither empty nor "0", demands them. Otherwise a terminal has colours, except
/// with TERM=dumb.
bool is_colored(ColorChoice flag, const ColorCircumstances& around);

/// auto, always or never. Throws ValueError.
ColorChoice parse_color(std::string_view text);

enum class StandardStream { Output, Error };

/// Sets the value of --color for the whole process, because an error is printed after its command
/// is gone.
void choose_color(ColorChoice choice);
/// Whether this process's stream is coloured.
bool is_colored(StandardStream stream);

/// The text in the style where the stream has colours, else as it is.
std::string bold(StandardStream stream, std::string_view text);
std::string bold_red(StandardStream stream, std::string_view text);

/// The text with bold table headers: every line above a rule of dashes is a header.
std::string with_bold_headers(std::string_view text);

}  // namespace gradcast
