// When to colour, and how.
#pragma once
#include <string>
#include <string_view>

namespace gradcast {

enum class ColorChoice { Auto, Always, Never };

/// What decides beside the flag. Variables that are not set are "".
struct ColorCircumstances {
  bool terminal = false;  // whether the stream is one
  std::string_view term;
  std::string_view no_color;
  std::string_view clicolor_force;
};

/// The flag wins. NO_COLOR, not empty, forbids; CLICOLOR_FORCE, neither empty nor "0", demands;
/// else a terminal has colours, but not TERM=dumb.
bool is_colored(ColorChoice flag, const ColorCircumstances& around);

/// auto, always or never. Throws ValueError.
ColorChoice parse_color(std::string_view text);

enum class StandardStream { Output, Error };

/// What --color says, for the whole process: an error is told after its command is gone.
void choose_color(ColorChoice choice);
/// Of this process's stream.
bool is_colored(StandardStream stream);

/// The text in the style where the stream has colours, else as it is.
std::string bold(StandardStream stream, std::string_view text);
std::string bold_red(StandardStream stream, std::string_view text);

/// A text with tables: every line above a rule of dashes is bold.
std::string with_bold_headers(std::string_view text);

}  // namespace gradcast
