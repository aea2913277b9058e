#include "sim/timeline/paje_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

#include "sim/base/error.hpp"
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

PajeFile::PajeFile(const std::filesystem::path& named)
    : path_(follow_links(named)),
      temporary_(path_.string() + ".tmp." + std::to_string(::getpid())) {
  std::error_code ignored;
  if (std::filesystem::exists(path_, ignored) && !std::filesystem::is_regular_file(path_, ignored))
    throw failure(path_, "not a regular file");
  if (!std::ofstream(temporary_)) throw failure(path_, std::strerror(errno));
}

PajeFile::~PajeFile() {
  std::error_code ignored;
  if (!kept_) std::filesystem::remove(temporary_, ignored);
}

void PajeFile::keep() {
  if (!is_whole(temporary_)) throw failure(path_, "SimGrid's trace has no end (is the disk full?)");
  std::error_code failed;
  std::filesystem::rename(temporary_, path_, failed);
  if (failed) throw failure(path_, failed.message());
  kept_ = true;
}

}  // namespace gradcast
