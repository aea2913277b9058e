// The tags of an XML text, one after another, without a tree.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/text_file.hpp"

namespace gradcast {

struct XmlTag {
  std::string_view name;
  std::vector<std::pair<std::string_view, std::string_view>> attributes{};  // as written
  bool closes = false;                                                      // </name>
  bool empty = false;                                                       // <name/>
  std::size_t line = 0;

  /// "" where the tag has no such attribute.
  std::string_view operator[](std::string_view attribute) const;
};

/// Skips comments, processing instructions and text. SimGrid's own scanner reads the same text
/// later: what the two might take apart in different places is refused.
class XmlTags {
 public:
  /// The file must outlive it.
  explicit XmlTags(const TextFile& file) : file_(file), text_(file.content) {}

  /// False at the end. Throws DataError.
  bool next(XmlTag& tag);

 private:
  DataError refusal(const std::string& what) const;
  bool at(std::string_view word) const { return text_.substr(at_).starts_with(word); }
  void move_to(std::size_t place);
  void move_behind(std::string_view word, const char* what);
  void skip_comment();
  void skip_doctype();
  void skip_blanks();
  std::string_view take_name();
  std::string_view take_value();
  void take_tag(XmlTag& tag);

  const TextFile& file_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace gradcast
