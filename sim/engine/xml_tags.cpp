#include "sim/engine/xml_tags.hpp"

#include <algorithm>

namespace gradcast {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

}  // namespace

std::string_view XmlTag::operator[](std::string_view attribute) const {
  for (const auto& [name, value] : attributes)
    if (name == attribute) return value;
  return {};
}

bool XmlTags::next(XmlTag& tag) {
  while (true) {
    move_to(std::min(text_.find('<', at_), text_.size()));
    if (at_ == text_.size()) return false;
    if (at("<!--")) {
      skip_comment();
    } else if (at("<?")) {
      move_behind("?>", "a processing instruction");
    } else if (at("<!DOCTYPE")) {
      skip_doctype();
    } else if (at("<!")) {
      throw refusal("'<!' begins neither a comment nor a DOCTYPE, and platforms have nothing else");
    } else {
      take_tag(tag);
      return true;
    }
  }
}

DataError XmlTags::refusal(const std::string& what) const {
  return {file_.path.string(), line_, "this is no XML of a platform: " + what};
}

void XmlTags::move_to(std::size_t place) {
  line_ += static_cast<std::size_t>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                               text_.begin() + static_cast<std::ptrdiff_t>(place),
                                               '\n'));
  at_ = place;
}

void XmlTags::move_behind(std::string_view word, const char* what) {
  const std::size_t found = text_.find(word, at_);
  if (found == std::string_view::npos) throw refusal(std::string(what) + " has no end");
  move_to(found + word.size());
}

void XmlTags::skip_comment() {
  const std::size_t end = text_.find("-->", at_ + 4);
  // SimGrid reads "--->" as a comment that goes on.
  if (end != std::string_view::npos && text_[end - 1] == '-' && end > at_ + 4)
    throw refusal("a comment ends in '--->'; write '-->'");
  move_to(at_ + 4);
  move_behind("-->", "a comment");
}

void XmlTags::skip_doctype() {
  char quote = 0;
  for (std::size_t i = at_ + 1; i < text_.size(); ++i) {
    const char letter = text_[i];
    if (letter == '<' || letter == '[')
      throw refusal("the DOCTYPE declares something; it should name SimGrid's DTD and no more");
    if (quote != 0) {
      if (letter == quote) quote = 0;
    } else if (letter == '"' || letter == '\'') {
      quote = letter;
    } else if (letter == '>') {
      move_to(i + 1);
      return;
    }
  }
  throw refusal("the DOCTYPE has no end");
}

void XmlTags::skip_blanks() {
  move_to(std::min(text_.find_first_not_of(kBlanks, at_), text_.size()));
}

std::string_view XmlTags::take_name() {
  const std::size_t begin = at_;
  move_to(std::min(text_.find_first_of(" \t\r\n=/><'\"", at_), text_.size()));
  if (at_ == begin) throw refusal("a name is missing");
  return text_.substr(begin, at_ - begin);
}

std::string_view XmlTags::take_value() {
  if (!at("\"") && !at("'")) throw refusal("the value of an attribute needs quotes");
  const std::size_t begin = at_ + 1;
  const std::size_t end = text_.find(text_[at_], begin);
  if (end == std::string_view::npos) throw refusal("a quote is opened and not closed");
  const std::string_view value = text_.substr(begin, end - begin);
  if (value.find('<') != std::string_view::npos)
    throw refusal("'<' stands in quotes; write '&lt;'");
  move_to(end + 1);
  return value;
}

void XmlTags::take_tag(XmlTag& tag) {
  tag = {};
  tag.line = line_;
  ++at_;
  if (at("/")) {
    ++at_;
    tag.closes = true;
  }
  tag.name = take_name();
  while (true) {
    skip_blanks();
    if (at(">") || at("/>")) break;
    const std::string_view name = take_name();
    skip_blanks();
    if (!at("=")) throw refusal("the attribute '" + std::string(name) + "' has no value");
    ++at_;
    skip_blanks();
    tag.attributes.emplace_back(name, take_value());
  }
  tag.empty = at("/>");
  at_ += tag.empty ? 2 : 1;
}

}  // namespace gradcast
