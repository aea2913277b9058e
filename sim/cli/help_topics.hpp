// The topics of `gradcast help TOPIC`.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace gradcast {

struct HelpTopic {
  std::string_view name;
  std::string_view summary;
  std::string_view text;  // for a terminal: paragraphs, and indented lines that stay as they are
};

std::span<const HelpTopic> all_help_topics();

/// nullptr if there is none of that name.
const HelpTopic* find_help_topic(std::string_view name);

/// `gradcast --help`: examples, commands, topics.
std::string help_overview();

/// The help of a command, of a topic, or of both if they have the same name. Throws UsageError,
/// with a suggestion.
std::string help_of(const std::string& word);

}  // namespace gradcast
