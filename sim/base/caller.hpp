// The one who asked for the work that a thread does, and is told of it: a person at a terminal, or
// a program that uses gradcast as a library.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace gradcast {

/// A program that called a command as a function. It gets what a person would see. Its methods are
/// called in the thread of the call, and must not throw.
class Caller {
 public:
  virtual ~Caller() = default;
  /// Takes what would go to standard output.
  virtual void answer(std::string_view text) = 0;
  /// Takes what would be a line on standard error.
  virtual void note(const std::string& line) = 0;
  /// `done` of `all` points are done, and `what` is under way.
  virtual void progress(std::size_t done, std::size_t all, const std::string& what) = 0;
  /// Whether the work is to come to an early end, in place of ctrl-C.
  virtual bool stopped() = 0;
};

/// The caller of this thread; nullptr: a person at a terminal, whose signals, environment and
/// config file count.
Caller* caller();

/// While it lives, this thread works for `caller`.
class WorksForCaller {
 public:
  explicit WorksForCaller(Caller& caller);
  ~WorksForCaller();
  WorksForCaller(const WorksForCaller&) = delete;
  WorksForCaller& operator=(const WorksForCaller&) = delete;

 private:
  Caller* before_;
};

}  // namespace gradcast
