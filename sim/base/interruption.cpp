#include "sim/base/interruption.hpp"

#include <unistd.h>

#include <csignal>
#include <exception>
#include <initializer_list>

#include "sim/base/caller.hpp"
#include "sim/base/error.hpp"
#include "sim/base/temporary_file.hpp"
#include "sim/base/text.hpp"
#include "sim/base/text_file.hpp"

namespace gradcast {
namespace {

// A signal handler can reach nothing else.
volatile std::sig_atomic_t signal_came = 0;
volatile std::sig_atomic_t ends_at_once = 0;

// Data of the handler, changed only while signals are held.
pid_t owner = 0;
std::string beginning;  // of the line; it also wipes the progress that a terminal shows
std::string written;
std::string line;

void on_signals(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM}) sigaddset(&action.sa_mask, signal);  // one line
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

void end(int signal) {
  if (ends_at_once == 0) {  // nobody said how
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return;
  }
  if (::getpid() == owner) {  // not a child that has just begun
    TemporaryFile::remove_all();
    static_cast<void>(write_whole(STDERR_FILENO, line.data(), line.size()));
  }
  ::_exit(static_cast<int>(ExitCode::Interrupted));
}

void remember(int signal) {
  if (signal_came != 0) end(signal);
  signal_came = 1;
}

}  // namespace

void end_when_interrupted(const std::string& program) {
  const SignalsHeld held;
  owner = ::getpid();
  beginning = (::isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "") + program + " interrupted: ";
  line = beginning + "nothing was written\n";
  ends_at_once = 1;
  on_signals(end);
}

void note_written(const std::string& name) {
  if (ends_at_once == 0) return;  // no line will say it
  const SignalsHeld held;
  written += (written.empty() ? "" : ", ") + one_line(name);
  line = beginning + written + (written.find(", ") == std::string::npos ? " was" : " were") +
         " written before\n";
}

Interruption::Interruption()
    : took_signals_(caller() == nullptr) {  // those of a caller are its own
  if (!took_signals_) return;
  signal_came = 0;
  sigaction(SIGINT, nullptr, &interrupt_before_);
  sigaction(SIGTERM, nullptr, &terminate_before_);
  on_signals(remember);
}

Interruption::~Interruption() {
  if (!took_signals_) return;
  sigaction(SIGINT, &interrupt_before_, nullptr);
  sigaction(SIGTERM, &terminate_before_, nullptr);
  // It came when there was nothing left to interrupt here, but who asked wants an end. An exception
  // says it already.
  if (signal_came != 0 && ends_at_once != 0 && std::uncaught_exceptions() == 0) end(SIGINT);
}

bool Interruption::asked() {
  Caller* const program = caller();
  return program != nullptr ? program->stopped() : signal_came != 0;
}

SignalsHeld::SignalsHeld() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : {SIGINT, SIGTERM}) sigaddset(&held, signal);
  sigprocmask(SIG_BLOCK, &held, &before_);
}

SignalsHeld::~SignalsHeld() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace gradcast
