// Cuts the list of events out of a trace of any length, in runs of whole events.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace gradcast {

/// Finds the events of a Chrome trace: the items of "traceEvents", or of the document itself where
/// that is a list. It looks at braces, commas and texts only; whoever parses a run checks the rest.
class EventCutter {
 public:
  /// The next block of the file, "" at its end; valid until the next call.
  using NextBlock = std::function<std::string_view()>;

  EventCutter(std::string file, NextBlock next);

  /// Whole events as a JSON list, behind which `kPadding` bytes may be read; "" when there are no
  /// more. Valid until the next call. Throws DataError for a file that ends too soon or nests too
  /// deeply, and for an event that is too long.
  std::string_view next();

  /// The document around the events, with an empty list in their place. Complete when next() has
  /// returned "".
  const std::string& head() const { return head_; }
  /// Whether there was a list of events.
  bool found_events() const { return found_events_; }

  static constexpr std::size_t kPadding = 64;

 private:
  void take_block();
  void take_head(std::string_view& block);
  void take_events(std::string_view& block);
  void skip_text(std::string_view block, std::size_t& at);
  bool opens_events(char letter) const;
  void keep_of_head(std::string_view text);

  std::string file_;
  NextBlock next_;
  std::string run_;        // "[" and what was cut of the events
  std::size_t whole_ = 0;  // bytes of the run up to the last comma between two events
  std::string given_;      // the run that was handed out
  std::string head_;
  std::string text_;              // of the head: the last text, for the name of a list
  std::size_t depth_ = 0;         // open braces and brackets of the document
  std::size_t events_depth_ = 0;  // of the list of events, while it is open
  bool in_text_ = false;
  bool escaped_ = false;
  bool list_document_ = false;
  bool name_is_events_ = false;  // the last name of the outermost object is "traceEvents"
  bool found_events_ = false;
  bool ended_ = false;   // the file
  bool closed_ = false;  // the document
};

}  // namespace gradcast
