#include "sim/base/writable.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sim/base/error.hpp"
#include "sim/base/text_file.hpp"

namespace gradcast {
namespace {

Error cannot(const std::string& what, int code) {
  return {ExitCode::Failure, "cannot " + what + ": " + std::strerror(code)};
}

}  // namespace

void require_file_writable(const std::filesystem::path& file) {
  const std::string what = "write " + file.string();
  struct stat there {};
  if (::stat(file.c_str(), &there) == 0) {
    if (S_ISDIR(there.st_mode)) throw cannot(what, EISDIR);
    if (!S_ISREG(there.st_mode)) {  // written in place, not beside it
      if (::access(file.c_str(), W_OK) != 0) throw cannot(what, errno);
      return;
    }
  } else if (errno != ENOENT) {
    throw cannot(what, errno);
  }
  std::filesystem::path folder = follow_links(file).parent_path();
  if (folder.empty()) folder = ".";
  if (::stat(folder.c_str(), &there) != 0) throw cannot(what, errno);
  if (!S_ISDIR(there.st_mode)) throw cannot(what, ENOTDIR);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) throw cannot(what, errno);
}

void require_folder_writable(const std::filesystem::path& folder) {
  const std::string what = "make the folder '" + folder.string() + "'";
  std::filesystem::path nearest = folder;
  struct stat there {};
  while (::stat(nearest.empty() ? "." : nearest.c_str(), &there) != 0) {
    if (errno != ENOENT || nearest.empty() || nearest == nearest.parent_path())
      throw cannot(what, errno);
    nearest = nearest.parent_path();
  }
  if (!S_ISDIR(there.st_mode)) throw cannot(what, ENOTDIR);
  if (::access(nearest.empty() ? "." : nearest.c_str(), W_OK | X_OK) != 0)
    throw nearest == folder ? cannot("write into the folder '" + folder.string() + "'", errno)
                            : cannot(what, errno);
}

}  // namespace gradcast
