#include "sim/options/color.hpp"

#include <unistd.h>

#include <cstdlib>

#include "sim/base/caller.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

constexpr std::string_view kBold = "\033[1m";
constexpr std::string_view kBoldRed = "\033[1;31m";
constexpr std::string_view kPlainText = "\033[0m";

ColorChoice chosen = ColorChoice::Auto;

std::string_view environment_text(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

std::string styled(std::string_view style, std::string_view text) {
  return std::string(style) + std::string(text) + std::string(kPlainText);
}

bool is_rule(std::string_view line) {
  return line.starts_with("--") && line.find_first_not_of("- ") == std::string_view::npos;
}

}  // namespace

bool is_colored(ColorChoice flag, const ColorCircumstances& around) {
  if (flag != ColorChoice::Auto) return flag == ColorChoice::Always;
  if (!around.no_color.empty()) return false;
  if (!around.clicolor_force.empty() && around.clicolor_force != "0") return true;
  return around.terminal && around.term != "dumb";
}

ColorChoice parse_color(std::string_view text) {
  if (text == "auto") return ColorChoice::Auto;
  if (text == "always") return ColorChoice::Always;
  if (text == "never") return ColorChoice::Never;
  throw ValueError("'" + std::string(text) + "' is not auto, always or never");
}

void choose_color(ColorChoice choice) {
  if (caller() == nullptr) chosen = choice;
}

bool is_colored(StandardStream stream) {
  if (caller() != nullptr) return false;
  const int number = stream == StandardStream::Output ? STDOUT_FILENO : STDERR_FILENO;
  return is_colored(chosen, {::isatty(number) == 1, environment_text("TERM"),
                             environment_text("NO_COLOR"), environment_text("CLICOLOR_FORCE")});
}

std::string bold(StandardStream stream, std::string_view text) {
  return is_colored(stream) ? styled(kBold, text) : std::string(text);
}

std::string bold_red(StandardStream stream, std::string_view text) {
  return is_colored(stream) ? styled(kBoldRed, text) : std::string(text);
}

std::string with_bold_headers(std::string_view text) {
  std::vector<std::string> lines = split_words(text, '\n');
  for (std::size_t i = 1; i < lines.size(); ++i)
    if (is_rule(lines[i]) && !lines[i - 1].empty()) lines[i - 1] = styled(kBold, lines[i - 1]);
  return join(lines, "\n");
}

}  // namespace gradcast
