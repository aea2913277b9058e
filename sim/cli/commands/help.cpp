// `gradcast help`: help on a command or a topic.
#include "sim/cli/help_topics.hpp"
#include "sim/options/flags.hpp"

namespace gradcast::commands {

int help(int argc, const char* const* argv) {
  Flags flags("help", "Explains the flags of a command, or a topic.",
              {"help", "help simulate", "help exit-codes", "help units"});
  flags.without_format();
  flags.without_config();
  flags.add_words("TOPIC", "a command, or a topic of `gradcast help`", 1);
  if (!flags.parse(argc, argv)) return 0;
  flags.deliver(flags.words().empty() ? help_overview() : help_of(flags.words()[0]));
  return 0;
}

}  // namespace gradcast::commands
