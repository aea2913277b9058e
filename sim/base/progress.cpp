#include "sim/base/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <numeric>

#include "kernels/bench/sampling.hpp"
#include "sim/base/caller.hpp"

namespace gradcast {
namespace {

std::size_t terminal_width() {
  struct winsize size {};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string about(Seconds time) {
  const long seconds = std::lround(std::ceil(time.count()));
  if (seconds < 100) return std::to_string(seconds) + " s";
  const long minutes = (seconds + 59) / 60;
  if (minutes < 100) return std::to_string(minutes) + " min";
  return std::to_string(minutes / 60) + " h " + std::to_string(minutes % 60) + " min";
}

std::string time_left(std::size_t done, const std::vector<double>& work, Seconds used) {
  if (done == 0) return "";
  const auto now = work.begin() + static_cast<std::ptrdiff_t>(done);
  const double behind = std::accumulate(work.begin(), now, 0.0);
  const double ahead = std::accumulate(now, work.end(), 0.0);
  return "about " + about(used * (ahead / behind)) + " left";
}

Progress::Progress(std::vector<double> work, bool quiet)
    : work_(std::move(work)),
      shown_(caller() != nullptr || (!quiet && ::isatty(STDERR_FILENO) == 1)),
      begin_(steady_seconds()) {}

void Progress::show(std::size_t done, const std::string& what, std::optional<Seconds> left) {
  if (!shown_) return;
  if (Caller* const program = caller()) return program->progress(done, work_.size(), what);
  const std::string words = left ? "about " + about(*left) + " left"
                                 : time_left(done, work_, Seconds{steady_seconds() - begin_});
  std::string line = "point " + std::to_string(done + 1) + " of " + std::to_string(work_.size()) +
                     (words.empty() ? "" : ", " + words) + ": " + what;
  line = line.substr(0, terminal_width() - 1);
  std::fprintf(stderr, "\r\033[K%s", line.c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::clear() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

}  // namespace gradcast
