// Ctrl-C as a flag that a measurement reads before its next sample.
#pragma once

namespace gradcast {

/// While it lives, the first SIGINT or SIGTERM only sets a flag; a second one ends the process.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  static bool asked();
};

}  // namespace gradcast
