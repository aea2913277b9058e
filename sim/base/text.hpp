// Text for people: suggestions and lists.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace gradcast {

/// "; did you mean 'topk'?", or "" where nothing in `known` is near enough: a third of the letters
/// may differ (at least one), or parts stand in another order. A name with another number is not
/// near; one with a digit more or less is.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& known);

/// "a, b, c"
std::string join(const std::vector<std::string>& words, std::string_view between = ", ");
/// "a, b and c"; "" for no words.
std::string and_joined(std::vector<std::string> words);

/// "'topk'"
std::string in_quotes(std::string_view text);

/// True for a control character of ASCII: a line break, a tab, an escape.
bool is_control(char letter);
bool is_digit(char letter);

/// Control characters, and with them line breaks, become blanks: for a message, and for a comment
/// of a file, whose next line would be no comment.
std::string one_line(std::string text);

/// The text with its ASCII letters in lower case.
std::string in_lower_case(std::string_view text);

/// Splits at every `separator`; an empty text is one empty word.
std::vector<std::string> split_words(std::string_view text, char separator);

/// Orders names so that numbers in them count by their value: "host2" before "host10".
bool natural_less(std::string_view a, std::string_view b);

bool begins_with_digit(std::string_view text);

}  // namespace gradcast
