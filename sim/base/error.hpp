#pragma once
#include <optional>
#include <stdexcept>
#include <string>

namespace gradcast {

/// The exit code of the process. The numbers are stable: scripts may rely on them.
enum class ExitCode {
  Ok = 0,
  Failure = 1,         // our defect, or the machine's (disk full)
  Usage = 2,           // a wrong command, flag or value of a flag
  BadInput = 3,        // a file that cannot be read or does not say what it should
  BeyondMaxError = 4,  // `compare --max-error`
  Missing = 5,         // a device or an optional part that this build or machine lacks
  Interrupted = 130,
};

/// An error with a one-line explanation and an exit code: main() prints the line and returns the
/// code. Any other exception is a defect in this program. Line breaks and other control characters
/// become blanks: the text may repeat what somebody else's file says.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& what);
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// The exception as an Error: one itself, or memory that ran out (1). None for a defect.
std::optional<Error> as_error(const std::exception& exception);

/// A wrong command line.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& what) : Error(ExitCode::Usage, what) {}
};

/// A wrong file. `line` counts from 1; 0 means the file as a whole.
class DataError : public Error {
 public:
  DataError(const std::string& file, std::size_t line, const std::string& what);
};

/// This build or machine lacks what was asked for.
class MissingError : public Error {
 public:
  explicit MissingError(const std::string& what) : Error(ExitCode::Missing, what) {}
};

/// A text that is not a valid value. Code that knows where the text came from (a flag, a line of a
/// file) catches this and throws UsageError or DataError.
class ValueError : public std::runtime_error {
 public:
  explicit ValueError(const std::string& what) : std::runtime_error(what) {}
};

}  // namespace gradcast
