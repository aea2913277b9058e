#include <csignal>

#include "sim/cli.hpp"

int main(int argc, char** argv) {
  // A reader that goes away (`gradcast list | head`) is a write error like any other.
  std::signal(SIGPIPE, SIG_IGN);
  return gradcast::run_cli(argc, argv);
}
