// A moment for tests to interrupt gradcast, which comes at any speed of the machine.
#pragma once
#include <sys/types.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

/// Waits until the process has said what it does when it is interrupted, which is when the program
/// itself begins; loading it takes longer on a busy machine.
inline void wait_for_start(pid_t process) {
  for (int i = 0; i < 20000; ++i) {
    const std::string about = "/proc/" + std::to_string(process);
    std::error_code ignored;  // until then it is a copy of this test
    const bool itself = std::filesystem::equivalent(about + "/exe", GRADCAST_PROGRAM, ignored);
    std::ifstream status(itself ? about + "/status" : "");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("SigCgt:") &&
          (std::stoull(line.substr(7), nullptr, 16) & (1ULL << (SIGINT - 1))) != 0)
        return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  FAIL("gradcast never began");
}
