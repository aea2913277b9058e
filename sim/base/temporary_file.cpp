#include "sim/base/temporary_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <utility>

#include "sim/base/error.hpp"
#include "sim/base/interruption.hpp"
#include "sim/base/paths.hpp"

namespace gradcast {
namespace {

// Changed only while signals are held, because a signal handler reads it.
TemporaryFile* first = nullptr;

std::string host() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "host";
  return name.data();
}

/// True for digits alone that number no process of this machine.
bool is_dead(std::string_view number) {
  pid_t process = 0;
  const char* end = number.data() + number.size();
  const auto [read, failed] = std::from_chars(number.data(), end, process);
  if (failed != std::errc{} || read != end || process <= 0) return false;
  return ::kill(process, 0) != 0 && errno == ESRCH;
}

/// Another machine's processes cannot be asked whether they live, so their files stay.
void remove_stale(const std::filesystem::path& target) {
  const std::string begin = target.filename().string() + ".tmp." + host() + "-";
  const std::filesystem::path folder = target.parent_path().empty() ? "." : target.parent_path();
  for (const std::filesystem::path& entry : entries_of(folder)) {
    const std::string name = entry.filename().string();
    if (name.starts_with(begin) && is_dead(std::string_view(name).substr(begin.size())))
      ::unlink(entry.c_str());
  }
}

}  // namespace

std::string process_name() { return host() + "-" + std::to_string(::getpid()); }

TemporaryFile::TemporaryFile(std::filesystem::path target)
    : target_(std::move(target)), name_(target_.string() + ".tmp." + process_name()) {
  remove_stale(target_);
  const SignalsHeld held;
  next_ = std::exchange(first, this);
}

TemporaryFile::~TemporaryFile() {
  const SignalsHeld held;
  if (name_.empty()) return;
  ::unlink(name_.c_str());
  forget();
}

void TemporaryFile::rename_to_target() {
  const SignalsHeld held;  // else a handler would remove a name that is no longer this file's
  if (::rename(name_.c_str(), target_.c_str()) != 0)
    throw Error(ExitCode::Failure,
                "cannot write " + target_.string() + ": " + std::strerror(errno));
  forget();
}

void TemporaryFile::forget() {
  TemporaryFile** at = &first;
  while (*at != this) at = &(*at)->next_;
  *at = next_;
  name_.clear();
}

void TemporaryFile::remove_all() {
  for (const TemporaryFile* file = first; file != nullptr; file = file->next_)
    ::unlink(file->name_.c_str());
}

}  // namespace gradcast
