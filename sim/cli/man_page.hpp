// Manual pages, in roff for man(7).
#pragma once
#include <string>
#include <vector>

#include "sim/options/command_info.hpp"

namespace gradcast {

/// gradcast(1): commands, and every topic of help but units and files.
std::string man_page_of_program(const std::vector<CommandInfo>& commands);

/// gradcast-<command>(1).
std::string man_page_of(const CommandInfo& command);

/// gradcast-formats(5): the topics units and files.
std::string man_page_of_formats();

}  // namespace gradcast
