// What `gradcast help TOPIC` tells beside the commands' own flags.
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

/// nullptr where there is none of that name.
const HelpTopic* find_help_topic(std::string_view name);

/// `gradcast --help`: examples, commands, topics.
std::string help_overview();

/// Of a command, a topic, or what is both. Throws UsageError, with a suggestion among both.
std::string help_of(const std::string& word);

}  // namespace gradcast
