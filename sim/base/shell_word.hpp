// Text as one word of a POSIX shell, for commands that a person pastes.
#pragma once
#include <string>
#include <string_view>

namespace gradcast {

/// The text in single quotes: a shell takes every character as it is.
std::string in_shell_quotes(std::string_view text);

/// The text as it is if a shell takes it so, else in quotes. Control characters are written as
/// $'\x1b', which bash, zsh and ksh read: a terminal must not obey them.
std::string shell_word(std::string_view text);

}  // namespace gradcast
