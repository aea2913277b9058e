// Ctrl-C and SIGTERM: what they do to a program, and to a command that wants to come to an end of
// its own.
#pragma once
#include <csignal>
#include <string>

namespace gradcast {

/// From now on SIGINT and SIGTERM end this process at once: with one line that says which files
/// were written, with exit code 130, and without the temporary files that it has open. `program`
/// begins the line.
void end_when_interrupted(const std::string& program);

/// Adds to that line the name of a file that was written, and stays.
void note_written(const std::string& name);

/// While it lives, the first SIGINT or SIGTERM only sets a flag; a second one ends the process, as
/// it would without this. Then the handlers are those from before. A thread that works for a caller
/// asks the caller instead.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  static bool asked();

 private:
  bool took_signals_;
  struct sigaction interrupt_before_ {};
  struct sigaction terminate_before_ {};
};

/// Keeps SIGINT and SIGTERM waiting while something must be done whole.
class SignalsHeld {
 public:
  SignalsHeld();
  /// A signal that came meanwhile is delivered here.
  ~SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace gradcast
