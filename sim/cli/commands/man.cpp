// `gradcast man`: manual pages.
#include "sim/base/text.hpp"
#include "sim/cli/command.hpp"
#include "sim/cli/completion/completion.hpp"
#include "sim/cli/man_page.hpp"
#include "sim/options/flags.hpp"

namespace gradcast::commands {

int man(int argc, const char* const* argv) {
  Flags flags("man",
              "Prints a manual page, in roff: for a command, for gradcast itself, or for the "
              "formats\nof files. An installed gradcast comes with these pages.",
              {"man simulate > gradcast-simulate.1", "man formats > gradcast-formats.5"});
  flags.without_format();
  flags.without_config();
  flags.add_words("PAGE", "a command, gradcast or formats", 1);
  if (!flags.parse(argc, argv)) return 0;
  const std::string page = flags.words().empty() ? "gradcast" : flags.words()[0];
  if (page == "gradcast") {
    flags.deliver(man_page_of_program(describe_all()));
    return 0;
  }
  if (page == "formats") {
    flags.deliver(man_page_of_formats());
    return 0;
  }
  for (const CommandInfo& command : describe_all())
    if (command.name == page) {
      flags.deliver(man_page_of(command));
      return 0;
    }
  const std::vector<std::string> known = names_of_kind("pages");
  throw UsageError("there is no page '" + page + "'" + did_you_mean(page, known) +
                   " (known: " + join(known) + ")");
}

}  // namespace gradcast::commands
