#include "sim/base/text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "sim/base/caller.hpp"
#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/interruption.hpp"
#include "sim/base/open_file.hpp"
#include "sim/base/temporary_file.hpp"

namespace gradcast {
namespace {

/// Owns a file descriptor; close() reports what the destructor would swallow.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  void reset(int number) { number_ = number; }  // of one that is closed
  bool close() {
    const int number = number_;
    number_ = -1;
    return ::close(number) == 0;
  }

 private:
  int number_;
};

Error write_error(const std::string& target, int code) {
  return {ExitCode::Failure, "cannot write " + target + ": " + std::strerror(code)};
}

void write_all(int descriptor, std::string_view content, const std::string& target) {
  if (!write_whole(descriptor, content.data(), content.size())) throw write_error(target, errno);
}

std::size_t line_of(std::string_view text, std::size_t at) {
  return 1 + static_cast<std::size_t>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

/// A file without a name in the target's folder; -1 where the file system has none.
int open_unnamed(const std::filesystem::path& target) {
  const std::filesystem::path folder = target.parent_path().empty() ? "." : target.parent_path();
  return ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
}

/// A file's content, down to the disk, before it takes the target's name. The draft has no name
/// until then if the file system can do that: a process that is killed leaves nothing.
class Draft {
 public:
  Draft(const std::filesystem::path& target, std::string_view content)
      : temporary_(target), file_(open_unnamed(target)) {
    if (file_.get() < 0) {
      unnamed_ = false;
      constexpr int kNew = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
      file_.reset(::open(temporary_.name().c_str(), kNew, 0666));
    }
    const std::string name = target.string();
    if (file_.get() < 0) throw write_error(name, errno);
    write_all(file_.get(), content, name);
    if (::fsync(file_.get()) != 0 && errno != EINVAL) throw write_error(name, errno);
  }

  void rename_to_target() {
    const std::string name = temporary_.target().string();
    if (unnamed_) {  // link() replaces no file, so it takes the temporary name first
      const std::string here = "/proc/self/fd/" + std::to_string(file_.get());
      ::unlink(temporary_.name().c_str());
      if (::linkat(AT_FDCWD, here.c_str(), AT_FDCWD, temporary_.name().c_str(),
                   AT_SYMLINK_FOLLOW) != 0)
        throw write_error(name, errno);
    }
    if (!file_.close()) throw write_error(name, errno);
    temporary_.rename_to_target();
  }

 private:
  TemporaryFile temporary_;
  Descriptor file_;
  bool unnamed_ = true;
};

}  // namespace

TextFile read_text_file(const std::filesystem::path& path, std::size_t most_bytes) {
  OpenFile file(path);
  TextFile text{path, {}};
  char block[65536];
  while (const std::size_t got = file.read(block, sizeof block)) {
    const std::string_view read(block, got);
    text.content.append(read);
    // Not at the end: /dev/zero has none.
    if (read.find('\0') != std::string_view::npos) require_text(text);
    if (text.content.size() > most_bytes)
      throw DataError(path.string(), 0,
                      "has more than " + std::to_string(most_bytes) +
                          " bytes, which is longer than any file of gradcast");
  }
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.content.starts_with(kByteOrderMark)) text.content.erase(0, kByteOrderMark.size());
  require_text(text);
  return text;
}

void require_text(const TextFile& file) {
  if (is_utf16(file.content)) throw DataError(file.path.string(), 0, kUtf16Words);
  if (const std::size_t nul = file.content.find('\0'); nul != std::string::npos)
    throw DataError(file.path.string(), line_of(file.content, nul),
                    "has a NUL byte, so it is not a text file");
}

std::filesystem::path follow_links(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // as Linux
  std::error_code failed;
  for (int links = 0; std::filesystem::is_symlink(path, failed); ++links) {
    if (links == kMostLinks) throw write_error(path.string(), ELOOP);
    const std::filesystem::path target = std::filesystem::read_symlink(path, failed);
    if (failed) throw write_error(path.string(), failed.value());
    path = path.parent_path() / target;
  }
  return path;
}

void write_text_file(const std::filesystem::path& named, std::string_view content) {
  struct stat there {};
  const bool special = ::stat(named.c_str(), &there) == 0 && !S_ISREG(there.st_mode);
  if (special) {
    Descriptor file(::open(named.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0) throw write_error(named.string(), errno);
    write_all(file.get(), content, named.string());
    if (!file.close()) throw write_error(named.string(), errno);
    note_written(named.string());
    return;
  }
  Draft draft(follow_links(named), content);
  const SignalsHeld held;  // the file and what is said of it go together
  draft.rename_to_target();
  note_written(named.string());
}

void write_text_files(const std::vector<TextFile>& files) {
  std::vector<std::unique_ptr<Draft>> drafts;
  for (const TextFile& file : files)
    drafts.push_back(std::make_unique<Draft>(follow_links(file.path), file.content));
  const SignalsHeld held;
  for (std::size_t i = 0; i < files.size(); ++i) {
    drafts[i]->rename_to_target();
    note_written(files[i].path.string());
  }
}

void write_stdout(std::string_view content) {
  if (Caller* const program = caller()) return program->answer(content);
  if (!write_whole(STDOUT_FILENO, content.data(), content.size())) {
    if (errno == EBADF)
      throw Error(ExitCode::Failure, "cannot write standard output: it is closed");
    throw write_error("standard output", errno);
  }
  // Closes a copy of the descriptor, because only close() reports late errors of a network disk.
  Descriptor copy(::dup(STDOUT_FILENO));
  if (copy.get() >= 0 && !copy.close()) throw write_error("standard output", errno);
  note_written("standard output");
}

bool write_whole(int descriptor, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(descriptor, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    at += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace gradcast
