// Keeps SIGINT and SIGTERM waiting while something must be done whole.
#pragma once
#include <csignal>

namespace gradcast {

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
