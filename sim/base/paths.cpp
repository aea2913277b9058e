#include "sim/base/paths.hpp"

#include <dlfcn.h>
#include <link.h>

#include <string>
#include <system_error>

#include "sim/base/error.hpp"

namespace gradcast {

namespace fs = std::filesystem;

Entry entry_at(const fs::path& path) {
  std::error_code failed;
  const fs::file_status there = fs::status(path, failed);
  switch (there.type()) {
    case fs::file_type::not_found:
      return Entry::None;
    case fs::file_type::none:  // also where a part of the path is no folder
      if (failed == std::errc::not_a_directory) return Entry::None;
      throw DataError(path.string(), 0, "cannot read this file: " + failed.message());
    case fs::file_type::regular:
      return Entry::File;
    case fs::file_type::directory:
      return Entry::Folder;
    default:
      return Entry::Other;
  }
}

void require_regular(const fs::path& path) {
  const Entry entry = entry_at(path);
  if (entry != Entry::File)
    throw DataError(path.string(), 0,
                    entry == Entry::None ? "no such file" : "is not a regular file");
}

bool kept_file_at(const fs::path& path) {
  const Entry entry = entry_at(path);
  if (entry == Entry::Folder || entry == Entry::Other)
    throw DataError(path.string(), 0,
                    std::string("is ") + (entry == Entry::Folder ? "a folder" : "no regular file") +
                        ", and should be a file that gradcast wrote: move it away");
  return entry == Entry::File;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code failed;
  // Not a loop over a range: its step throws.
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
    entries.push_back(at->path());
  return entries;
}

void make_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  std::error_code ignored;
  if (failed && !fs::is_directory(folder, ignored))
    throw Error(ExitCode::Failure,
                "cannot make the folder '" + folder.string() + "': " + failed.message());
}

fs::path current_folder() {
  std::error_code failed;
  fs::path folder = fs::current_path(failed);
  if (failed)
    throw Error(ExitCode::Failure, "cannot tell in which folder this runs: " + failed.message());
  return folder;
}

namespace {

fs::path told_program;

}  // namespace

void set_own_program(const fs::path& program) { told_program = program; }

fs::path own_program() {
  if (!told_program.empty()) return told_program;
  std::error_code failed;
  fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (failed)
    throw Error(ExitCode::Failure,
                "cannot tell which file this program is: /proc/self/exe: " + failed.message());
  return program;
}

fs::path folder_of_code() {
  Dl_info found{};
  void* loaded = nullptr;
  static const char here = 0;
  if (::dladdr1(&here, &found, &loaded, RTLD_DL_LINKMAP) == 0 || loaded == nullptr) return {};
  // The loader has no name for the main program: what was typed is not where it lies.
  const char* const file = static_cast<const link_map*>(loaded)->l_name;
  std::error_code ignored;
  if (file == nullptr || *file == '\0')
    return fs::read_symlink("/proc/self/exe", ignored).parent_path();
  return fs::weakly_canonical(file, ignored).parent_path();
}

}  // namespace gradcast
