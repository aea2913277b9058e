#include "sim/report/escape.hpp"

#include "sim/base/clean_text.hpp"

namespace gradcast {

std::string escape_markup(std::string_view text) {
  std::string safe;
  for (const char c : clean_text(text)) {
    if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '&')
      safe += "&amp;";
    else if (c == '"')
      safe += "&quot;";
    else if (c == '\'')
      safe += "&#39;";
    else
      safe += c;
  }
  return safe;
}

std::string escape_script_json(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      safe += "\\u003c";
    else if (c == '>')
      safe += "\\u003e";
    else if (c == '&')
      safe += "\\u0026";
    else
      safe += c;
  }
  return safe;
}

std::string escape_data_uri(std::string_view text) {
  constexpr std::string_view kPlain = "-_.~,;:/()*!@$=+";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string safe;
  for (const char c : clean_text(text)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || kPlain.find(c) != std::string_view::npos)
      safe += c;
    else
      safe += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return safe;
}

}  // namespace gradcast
