// Runs gradcast as a user does.
#pragma once
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/process.hpp"

/// Runs gradcast as run_process does.
inline Ran gradcast_with(const std::vector<std::string>& arguments, const char* out_path = nullptr,
                         rlim_t most_bytes = 0) {
  std::vector<std::string> words{GRADCAST_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_process(words, out_path, most_bytes);
}

inline Ran gradcast_limited(const std::vector<std::string>& arguments, rlim_t most_bytes) {
  return gradcast_with(arguments, nullptr, most_bytes);
}

template <class... Arguments>
Ran gradcast_runs(Arguments... arguments) {
  return gradcast_with({arguments...});
}

/// While it lives, the program assumes what it assumes of a user's commands, which documents show.
class UsersPreset {
 public:
  UsersPreset() {
    if (const char* kept = std::getenv(kName)) kept_ = kept;
    unsetenv(kName);
  }
  ~UsersPreset() {
    if (!kept_.empty()) setenv(kName, kept_.c_str(), 1);
  }
  UsersPreset(const UsersPreset&) = delete;
  UsersPreset& operator=(const UsersPreset&) = delete;

 private:
  static constexpr const char* kName = "GRADCAST_PRESET";
  std::string kept_;
};

/// One clear line on standard error, this exit code, and nothing on standard output.
inline void refuses(const std::vector<std::string>& arguments, int exit_code,
                    const std::string& says) {
  const Ran ran = gradcast_with(arguments);
  CAPTURE(arguments, ran.err);
  CHECK(ran.exit_code == exit_code);
  CHECK_THAT(ran.err, Catch::StartsWith("gradcast: ") && Catch::Contains(says));
  CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  CHECK(ran.out.empty());
}
