// Ctrl-C and SIGTERM: what they do to a program, and to a command that wants to come to an end of
// its own.
#pragma once
#include <string>

namespace gradcast {

/// From now on SIGINT and SIGTERM end this process at once: with one line that says which files
/// were written, with exit code 130, and without the temporary files that it has open. `program`
/// begins the line.
void end_when_interrupted(const std::string& program);

/// For that line: what was written, and stays.
void note_written(const std::string& name);

/// While it lives, the first SIGINT or SIGTERM only sets a flag; a second one ends the process, as
/// it would without this.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  static bool asked();
};

}  // namespace gradcast
