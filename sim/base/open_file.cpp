#include "sim/base/open_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sim/base/error.hpp"

namespace gradcast {
namespace {

constexpr int kPipePatience = 2000;  // milliseconds: a shell starts both ends of a pipe at once
constexpr int kForever = -1;

DataError unreadable(const std::string& path, int code) {
  return {path, 0, std::string("cannot read this file: ") + std::strerror(code)};
}

}  // namespace

// Without O_NONBLOCK a pipe that nobody writes to would never be open.
OpenFile::OpenFile(const std::filesystem::path& path)
    : path_(path.string()), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (descriptor_ < 0) throw unreadable(path_, errno);
  struct stat there {};
  is_pipe_ = ::fstat(descriptor_, &there) == 0 && S_ISFIFO(there.st_mode);
}

OpenFile::~OpenFile() { ::close(descriptor_); }

std::size_t OpenFile::read(char* into, std::size_t size) {
  bool waited = false;
  for (;;) {
    const ssize_t got = ::read(descriptor_, into, size);
    pollfd ready{descriptor_, POLLIN, 0};
    if (got > 0) {
      begun_ = true;
      return static_cast<std::size_t>(got);
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) {
      ::poll(&ready, 1, kForever);
      continue;
    }
    if (got < 0) throw unreadable(path_, errno);
    if (!is_pipe_ || begun_) return 0;
    if (waited) throw DataError(path_, 0, "is a pipe, and no program writes to it");
    // No program has the pipe open. One that had it open and wrote nothing hangs up.
    if (::poll(&ready, 1, kPipePatience) > 0 && (ready.revents & POLLIN) == 0) return 0;
    waited = true;
  }
}

}  // namespace gradcast
