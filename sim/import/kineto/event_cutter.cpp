#include "sim/import/kineto/event_cutter.hpp"

#include <algorithm>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/limits.hpp"

namespace gradcast {
namespace {

/// Long enough that parsing a run costs little beside what is in it, and short enough for the
/// cache.
constexpr std::size_t kRunBytes = std::size_t{1} << 20;

bool is_blank(char letter) {
  return letter == ' ' || letter == '\n' || letter == '\r' || letter == '\t';
}

}  // namespace

EventCutter::EventCutter(std::string file, NextBlock next)
    : file_(std::move(file)), next_(std::move(next)) {}

std::string_view EventCutter::next() {
  while (!ended_ && whole_ < kRunBytes) take_block();
  if (whole_ == 0) return {};
  given_.assign(run_, 0, whole_);
  given_ += ']';
  given_.append(kPadding, '\0');
  run_.erase(1, whole_ - 1 + (whole_ < run_.size() ? 1 : 0));  // and the comma behind it
  whole_ = 0;
  return std::string_view(given_).substr(0, given_.size() - kPadding);
}

void EventCutter::take_block() {
  std::string_view block = next_();
  if (block.empty()) {
    ended_ = true;
    if (!closed_)
      throw DataError(file_, 0,
                      head_.empty() ? "is empty" : "ends inside its JSON: the file is cut off");
    return;
  }
  if (head_.empty() && block.starts_with("\xef\xbb\xbf")) block.remove_prefix(3);
  while (!block.empty()) {
    if (events_depth_ > 0)
      take_events(block);
    else
      take_head(block);
  }
}

/// Moves behind a text, or to the end of the block.
void EventCutter::skip_text(std::string_view block, std::size_t& at) {
  for (; at < block.size(); ++at) {
    const char letter = block[at];
    if (escaped_) {
      escaped_ = false;
    } else if (letter == '\\') {
      escaped_ = true;
    } else if (letter == '"') {
      in_text_ = false;
      ++at;
      return;
    }
  }
}

void EventCutter::keep_of_head(std::string_view text) {
  head_ += text;
  if (head_.size() > kLongestJsonText)
    throw DataError(file_, 0,
                    "has more than " + std::to_string(kLongestJsonText) +
                        " bytes around its list of events, so it is no profiler trace");
}

bool EventCutter::opens_events(char letter) const {
  if (letter != '[' || found_events_) return false;
  return depth_ == 0 || (depth_ == 1 && !list_document_ && name_is_events_);
}

void EventCutter::take_head(std::string_view& block) {
  std::size_t at = 0;
  while (at < block.size()) {
    if (in_text_) {
      const std::size_t begin = at;
      skip_text(block, at);
      if (depth_ == 1 && text_.size() < 64)
        text_ += block.substr(begin, std::min<std::size_t>(at - begin, 64));
      continue;
    }
    const char letter = block[at];
    if (closed_ && !is_blank(letter))
      throw DataError(file_, 0, "goes on after the end of its JSON");
    if (depth_ == 0 && !closed_ && !is_blank(letter) && letter != '{' && letter != '[')
      throw DataError(file_, 0, "is not JSON: it begins with neither '{' nor '['");
    const bool opens = opens_events(letter);
    ++at;
    if (letter == '"') {
      in_text_ = true;
      if (depth_ == 1) text_.clear();
    } else if (letter == ':' && depth_ == 1) {
      name_is_events_ = text_ == "traceEvents\"";
    } else if (letter == '{' || letter == '[') {
      if (++depth_ > kDeepestJson)
        throw DataError(file_, 0, "nests deeper than " + std::to_string(kDeepestJson) + " levels");
    } else if (letter == '}' || letter == ']') {
      if (depth_ > 0 && --depth_ == 0) closed_ = true;
    }
    if (opens) {
      list_document_ = depth_ == 1;
      events_depth_ = depth_;
      found_events_ = true;
      run_ = "[";
      break;
    }
  }
  keep_of_head(block.substr(0, at));
  block.remove_prefix(at);
}

void EventCutter::take_events(std::string_view& block) {
  std::size_t at = 0;
  std::size_t cut = std::string_view::npos;  // of the last comma between events
  bool over = false;
  while (at < block.size() && !over) {
    if (in_text_) {
      skip_text(block, at);
      continue;
    }
    switch (block[at]) {
      case '"':
        in_text_ = true;
        break;
      case '{':
      case '[':
        if (++depth_ > kDeepestJson)
          throw DataError(
              file_, 0,
              "has an event that nests deeper than " + std::to_string(kDeepestJson) + " levels");
        break;
      case '}':
      case ']':
        over = --depth_ < events_depth_;
        break;
      case ',':
        if (depth_ == events_depth_) cut = at;
        break;
      default:
        break;
    }
    ++at;
  }
  const std::size_t taken = over ? at - 1 : at;
  if (cut != std::string_view::npos) whole_ = run_.size() + cut;
  run_ += block.substr(0, taken);
  if (run_.size() - whole_ > kLongestJsonText)
    throw DataError(file_, 0,
                    "has an event of more than " + std::to_string(kLongestJsonText) + " bytes");
  if (over) {
    whole_ = run_.size();
    events_depth_ = 0;
    keep_of_head("]");
    if (depth_ == 0) closed_ = true;
  }
  block.remove_prefix(at);
}

}  // namespace gradcast
