#include "sim/cli/commands/fit/save.hpp"

#include <filesystem>

#include "sim/base/paths.hpp"

namespace gradcast::commands {

void save_files(const Flags& flags, const std::vector<FittedFile>& made) {
  std::vector<TextFile> whole;
  for (const FittedFile& file : made) {
    whole.push_back({std::filesystem::path(flags.written("save")) / file.path, file.content});
    make_folder(whole.back().path.parent_path());
  }
  // The clusters last: they name what the cost tables hold, which a forecast checks.
  write_text_files({whole.rbegin(), whole.rend()});
  for (const TextFile& file : whole) flags.note("saved " + file.path.string());
}

}  // namespace gradcast::commands
