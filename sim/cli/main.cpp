#include <fcntl.h>
#include <unistd.h>

#include <csignal>

#include "sim/cli/cli.hpp"

namespace {

/// A caller may close a standard stream. The next file that is opened would then take its number.
void require_standard_streams() {
  for (int number = 0; number <= 2; ++number) {
    if (::fcntl(number, F_GETFD) >= 0) continue;
    // A folder cannot be written, so an answer that finds no output is said to be lost.
    if (number == STDOUT_FILENO)
      static_cast<void>(::open("/", O_RDONLY | O_DIRECTORY));
    else
      static_cast<void>(::open("/dev/null", O_RDWR));
  }
}

}  // namespace

int main(int argc, char** argv) {
  require_standard_streams();
  // A reader that goes away (`gradcast list | head`) and a file size limit are treated as write
  // errors.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return gradcast::run_cli(argc, argv);
}
