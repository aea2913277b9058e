#include "sim/answers/json_reader.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/limits.hpp"

namespace gradcast {
namespace {

/// A text in blocks, and how far it was read.
class Text {
 public:
  using NextBlock = std::function<std::string_view()>;

  Text(std::string file, NextBlock next, std::size_t first_line)
      : file_(std::move(file)), next_(std::move(next)), line_(first_line) {
    advance();
  }

  const std::string& file() const { return file_; }

  bool ended() const { return at_ == block_.size(); }
  /// Whether somebody asked for more than there is.
  bool exceeded() const { return exceeded_; }
  bool ended_for_parser() {
    exceeded_ = exceeded_ || ended();
    return ended();
  }
  char letter() const { return block_[at_]; }
  void skip() {
    if (++at_ == block_.size()) advance();
  }
  /// Marks the text read so far as understood.
  void understood() { understood_ = before_ + at_; }

  /// Line and byte, counted from 1.
  std::size_t line() const { return line_ + lines_until(at_); }
  std::size_t byte() const { return before_ + at_ + 1; }

 private:
  void advance() {
    line_ += lines_until(block_.size());
    before_ += block_.size();
    // The parser keeps all of a text before it hands it over.
    if (before_ - understood_ > kLongestJsonText)
      throw DataError(
          file_, line_,
          "has a text or number of more than " + std::to_string(kLongestJsonText) + " bytes");
    block_ = next_();
    at_ = 0;
  }

  std::size_t lines_until(std::size_t end) const {
    return static_cast<std::size_t>(
        std::count(block_.begin(), block_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
  }

  std::string file_;
  NextBlock next_;
  std::string_view block_;
  std::size_t at_ = 0;
  std::size_t line_;        // where the block begins
  std::size_t before_ = 0;  // bytes before the block
  std::size_t understood_ = 0;
  bool exceeded_ = false;
};

/// Iterator over the letters of a Text, for nlohmann's parser. Two are equal if both are at the
/// end.
class Letters {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  Letters() = default;
  explicit Letters(Text& text) : text_(&text) {}
  char operator*() const { return text_->letter(); }
  Letters& operator++() {
    text_->skip();
    return *this;
  }
  bool operator==(const Letters& other) const { return ended() == other.ended(); }
  bool operator!=(const Letters& other) const { return !(*this == other); }

 private:
  bool ended() const { return text_ == nullptr || text_->ended_for_parser(); }

  Text* text_ = nullptr;
};

/// Handler of nlohmann's parser. Builds the document, or an item of a list at a time.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(Text& text, const JsonLists& lists) : text_(text), lists_(lists) {}

  Json document() { return std::move(document_); }

  bool null() override { return value(nullptr); }
  bool boolean(bool truth) override { return value(truth); }
  bool number_integer(number_integer_t number) override { return value(number); }
  bool number_unsigned(number_unsigned_t number) override { return value(number); }
  bool number_float(number_float_t number, const string_t& /*text*/) override {
    return value(number);
  }
  bool string(string_t& text) override {
    count(text);
    return value(std::move(text));
  }
  bool binary(binary_t& bytes) override { return value(std::move(bytes)); }
  bool start_object(std::size_t /*unknown*/) override { return open(Json::object()); }
  bool key(string_t& name) override {
    count(name);
    key_ = std::move(name);
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*unknown*/) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t /*position*/, const std::string& token,
                   const Json::exception& error) override {
    constexpr int kOutOfRange = 406;  // nlohmann's number of it
    if (error.id == kOutOfRange) throw failure("the number " + token + " is too large");
    // The parser has read the letter that it complains of, if there was one.
    const bool ended =
        text_.exceeded() &&
        std::string_view(error.what()).find("; expected end of input") == std::string_view::npos;
    throw failure("is no whole JSON: byte " + std::to_string(text_.byte() - (ended ? 0 : 1)) +
                  (ended ? " should go on" : " does not belong there"));
  }

 private:
  DataError failure(const std::string& what) const { return {text_.file(), text_.line(), what}; }

  bool in_list() const { return list_depth_ > 0; }

  void count(const std::string& text) {
    constexpr std::size_t kBytesOfAValue = 64;  // about what a number and its name take
    values_ += text.size() / kBytesOfAValue;
  }

  /// Puts a value where it belongs. The pointer is valid until its parent gets another one.
  Json* put(Json&& value) {
    text_.understood();
    if (++values_ > kMostJsonValues)
      throw failure("has more than " + std::to_string(kMostJsonValues) +
                    " values, which is more than is read together");
    if (open_.empty()) return &(document_ = std::move(value));
    if (in_list() && open_.size() == list_depth_) return &(item_ = std::move(value));
    Json& parent = *open_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return &parent.back();
    }
    // Not operator[], which looks through all names.
    auto& members = parent.get_ref<Json::object_t&>();
    members.emplace_back(std::move(key_), std::move(value));
    return &members.back().second;
  }

  bool value(Json&& value) {
    put(std::move(value));
    hand_over();
    return true;
  }

  bool open(Json&& empty) {
    if (open_.size() == kDeepestJson)
      throw failure("nests objects and lists deeper than " + std::to_string(kDeepestJson));
    const bool list = empty.is_array();
    // The list's name is its key in the document's object, which put() moves away.
    const std::string name = open_.empty() ? "" : key_;
    Json* opened = put(std::move(empty));
    open_.push_back(opened);
    if (list && !in_list() && (open_.size() == 1 || (open_.size() == 2 && open_[0]->is_object()))) {
      const auto found = std::find(lists_.names.begin(), lists_.names.end(), name);
      if (found != lists_.names.end() && (open_.size() == 1) == name.empty()) {
        list_depth_ = open_.size();
        list_ = static_cast<std::size_t>(found - lists_.names.begin());
        values_before_ = values_;
      }
    }
    return true;
  }

  bool close() {
    open_.pop_back();
    if (in_list() && open_.size() < list_depth_)
      list_depth_ = 0;
    else
      hand_over();
    return true;
  }

  /// An item of a list that is whole.
  void hand_over() {
    if (!in_list() || open_.size() != list_depth_) return;
    lists_.take(list_, item_);
    item_ = nullptr;
    values_ = values_before_;
  }

  Text& text_;
  const JsonLists& lists_;
  Json document_;
  Json item_;
  std::vector<Json*> open_;  // objects and lists that have begun, the document's first
  std::string key_;
  std::size_t values_ = 0;         // of the document and the present item
  std::size_t list_ = 0;           // the list that is handed over: its place in the names,
  std::size_t list_depth_ = 0;     // its place in open_ (0: none),
  std::size_t values_before_ = 0;  // and the values before its items
};

Json read(Text& text, const JsonLists& lists) {
  Builder builder(text, lists);
  Json::sax_parse(Letters(text), Letters(), &builder);
  return builder.document();
}

}  // namespace

Json read_json(BlockReader& file, const JsonLists& lists,
               const std::function<void(std::string_view block)>& on_block) {
  Text text(
      file.path(),
      [&] {
        const std::string_view block = file.next();
        if (on_block && !block.empty()) on_block(block);
        return block;
      },
      1);
  return read(text, lists);
}

Json parse_json(std::string_view text, const std::string& file, std::size_t line) {
  bool given = false;
  Text whole(
      file, [&] { return std::exchange(given, true) ? std::string_view() : text; }, line);
  return read(whole, {});
}

}  // namespace gradcast
