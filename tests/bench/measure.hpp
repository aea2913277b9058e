// Measures the cost of a calculation, and prints a table of such figures beside their limits.
#pragma once
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>

namespace bench {

struct Cost {
  double cpu_seconds = 0;
  double peak_megabytes = 0;  // the largest process's
  double answer = 0;
};

/// Runs `work` in a process of its own, so that nothing of an earlier one is warm or counted.
/// Processes that `work` starts and waits for count too. Throws what `work` throws.
inline Cost measure(const std::function<double()>& work) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("pipe");
  std::fflush(stdout);  // or the child prints it once more
  const pid_t child = fork();
  if (child == 0) {
    try {
      const double answer = work();
      _exit(write(ends[1], &answer, sizeof answer) == sizeof answer ? 0 : 1);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(1);
    }
  }
  close(ends[1]);
  Cost cost;
  const bool answered = read(ends[0], &cost.answer, sizeof cost.answer) == sizeof cost.answer;
  close(ends[0]);
  rusage used{};
  wait4(child, nullptr, 0, &used);  // includes all children that the child waited for
  if (!answered) throw std::runtime_error("a measurement ended without an answer");
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  cost.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  cost.peak_megabytes = static_cast<double>(used.ru_maxrss) * 1024 / 1e6;  // Linux: KiB
  return cost;
}

/// A line for each claim, printed as it is known.
class Report {
 public:
  Report() { print("what", "measured", "limit", ""); }

  void at_most(const std::string& what, double measured, double limit, const char* unit) {
    const bool ok = measured <= limit;  // false for what is no number
    if (!ok) ++failures_;
    print(what, text(measured, unit), text(limit, unit), ok ? "ok" : "FAILED");
  }
  /// Nothing hangs on it.
  void note(const std::string& what, double measured, const char* unit) {
    print(what, text(measured, unit), "", "");
  }
  void skipped(const std::string& what, const std::string& why) {
    print(what, "", "", ("skipped: " + why).c_str());
  }

  int failures() const { return failures_; }

 private:
  static std::string text(double value, const char* unit) {
    char text[64];
    std::snprintf(text, sizeof text, "%.3g %s", value, unit);
    return text;
  }
  static void print(const std::string& what, const std::string& measured, const std::string& limit,
                    const char* verdict) {
    std::printf("%-64s %12s %10s  %s\n", what.c_str(), measured.c_str(), limit.c_str(), verdict);
    std::fflush(stdout);
  }

  int failures_ = 0;
};

}  // namespace bench
