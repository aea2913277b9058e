// Runs gradcast as a user does, and keeps what came out.
#pragma once
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <string>
#include <vector>

struct Ran {
  int exit_code = -1;
  std::string out;
  std::string err;
};

inline std::string content_of(std::FILE* file) {
  std::rewind(file);
  std::string text;
  char block[4096];
  for (std::size_t got = 0; (got = std::fread(block, 1, sizeof block, file)) > 0;)
    text.append(block, got);
  std::fclose(file);
  return text;
}

/// `out_path`: where standard output goes instead of being kept. `most_bytes`: how large a file may
/// grow, 0 for any size.
inline Ran gradcast_with(const std::vector<std::string>& arguments, const char* out_path = nullptr,
                         rlim_t most_bytes = 0) {
  std::FILE* out = std::tmpfile();
  std::FILE* err = std::tmpfile();
  const pid_t child = fork();
  if (child == 0) {
    std::vector<char*> argv{const_cast<char*>("gradcast")};
    for (const std::string& argument : arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    dup2(out_path != nullptr ? open(out_path, O_WRONLY) : fileno(out), STDOUT_FILENO);
    dup2(fileno(err), STDERR_FILENO);
    const rlimit limit{most_bytes, most_bytes};
    if (most_bytes > 0) setrlimit(RLIMIT_FSIZE, &limit);
    execv(GRADCAST_PROGRAM, argv.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  Ran ran{WIFEXITED(status) ? WEXITSTATUS(status) : -1, content_of(out), content_of(err)};
  return ran;
}

inline Ran gradcast_limited(const std::vector<std::string>& arguments, rlim_t most_bytes) {
  return gradcast_with(arguments, nullptr, most_bytes);
}

template <class... Arguments>
Ran gradcast_runs(Arguments... arguments) {
  return gradcast_with({arguments...});
}

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
