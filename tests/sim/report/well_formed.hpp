// A small check of XML: every element that is opened is closed, attributes are quoted, and no bare
// '<' or '&' stands in text.
#pragma once
#include <string>
#include <string_view>
#include <vector>

/// "" of what is well formed, else what is wrong.
inline std::string xml_fault(std::string_view xml) {
  std::vector<std::string> open;
  const auto entity_ends = [&](std::size_t at) {
    const std::size_t end = xml.find(';', at);
    return end != std::string_view::npos && end - at < 8;
  };
  for (std::size_t i = 0; i < xml.size();) {
    const auto byte = static_cast<unsigned char>(xml[i]);
    if (byte < 0x20 && byte != '\n' && byte != '\t') return "a control character";
    if (xml[i] == '>') return "a bare >";
    if (xml[i] == '&' && !entity_ends(i)) return "a bare &";
    if (xml[i] != '<') {
      ++i;
      continue;
    }
    const bool closes = xml.substr(i).starts_with("</");
    std::size_t end = i + (closes ? 2 : 1);
    const std::size_t begin = end;
    while (end < xml.size() && (std::isalnum(static_cast<unsigned char>(xml[end])) != 0)) ++end;
    const std::string name(xml.substr(begin, end - begin));
    if (name.empty()) return "a bare <";
    for (char quote = 0; end < xml.size() && (quote != 0 || xml[end] != '>'); ++end) {
      if (xml[end] == '<') return "a < inside <" + name;
      if (xml[end] == '&' && !entity_ends(end)) return "a bare & inside <" + name;
      if (quote != 0 ? xml[end] == quote : xml[end] == '"' || xml[end] == '\'')
        quote = quote != 0 ? '\0' : xml[end];
    }
    if (end >= xml.size()) return "<" + name + " has no end";
    if (closes) {
      if (open.empty() || open.back() != name) return "</" + name + "> closes nothing";
      open.pop_back();
    } else if (xml[end - 1] != '/') {
      open.push_back(name);
    }
    i = end + 1;
  }
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}
