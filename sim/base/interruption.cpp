#include "sim/base/interruption.hpp"

#include <csignal>
#include <initializer_list>

namespace gradcast {
namespace {

// A signal handler can reach nothing else.
volatile std::sig_atomic_t signal_came = 0;

void remember(int /*signal*/) { signal_came = 1; }

}  // namespace

Interruption::Interruption() {
  signal_came = 0;
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART | SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

Interruption::~Interruption() {
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
}

bool Interruption::asked() { return signal_came != 0; }

}  // namespace gradcast
