#include "sim/base/complaints.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sim/base/error.hpp"

namespace gradcast {

Complaints::Complaints() : descriptor_(::memfd_create("complaints", MFD_CLOEXEC)) {
  if (descriptor_ < 0)
    throw Error(ExitCode::Failure,
                std::string("cannot keep what a process complains of: ") + std::strerror(errno));
}

Complaints::~Complaints() { ::close(descriptor_); }

std::string Complaints::last_line() const {
  constexpr off_t kLongestLine = 65536;
  struct stat there {};
  if (::fstat(descriptor_, &there) != 0) return {};
  std::string text(static_cast<std::size_t>(std::min(there.st_size, kLongestLine)), '\0');
  // pread: the child, which may still write, shares the place where its next line goes.
  const ssize_t got = ::pread(descriptor_, text.data(), text.size(),
                              there.st_size - static_cast<off_t>(text.size()));
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace gradcast
