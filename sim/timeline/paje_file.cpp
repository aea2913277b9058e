#include "sim/timeline/paje_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

#include "sim/base/error.hpp"
#include "sim/base/interruption.hpp"
#include "sim/base/signals_held.hpp"
#include "sim/base/text_file.hpp"

namespace gradcast {
namespace {

Error failure(const std::filesystem::path& path, const std::string& why) {
  return {ExitCode::Failure, "cannot write " + path.string() + ": " + why};
}

/// A complete Paje trace ends with the destruction of its container.
bool is_whole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string define = "%EventDef PajeDestroyContainer ";
  std::string number;
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(define)) number = line.substr(define.size());
    if (!line.empty()) last = std::move(line);
  }
  return !number.empty() && last.starts_with(number + " ");
}

}  // namespace

PajeFile::PajeFile(const std::filesystem::path& named) : file_(follow_links(named)) {
  const std::filesystem::path& path = file_.target();
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
    throw failure(path, "not a regular file");
  if (!std::ofstream(file_.name())) throw failure(path, std::strerror(errno));
}

void PajeFile::keep() {
  if (!is_whole(file_.name()))
    throw failure(file_.target(), "SimGrid's trace has no end (is the disk full?)");
  const SignalsHeld held;  // the file and what is said of it go together
  file_.rename_to_target();
  note_written(file_.target().string());
}

}  // namespace gradcast
