// Runs a program as a user does, and keeps what came out.
#pragma once
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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

/// `words`: the program, by its path or found in $PATH, and its arguments. `out_path`: where
/// standard output goes instead of being kept. `most_bytes`: how large a file may grow, 0 for any
/// size. Exit code 127: there is no such program.
inline Ran run_process(const std::vector<std::string>& words, const char* out_path = nullptr,
                       rlim_t most_bytes = 0) {
  std::FILE* out = std::tmpfile();
  std::FILE* err = std::tmpfile();
  const pid_t child = fork();
  if (child == 0) {
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    dup2(out_path != nullptr ? open(out_path, O_WRONLY) : fileno(out), STDOUT_FILENO);
    dup2(fileno(err), STDERR_FILENO);
    const rlimit limit{most_bytes, most_bytes};
    if (most_bytes > 0) setrlimit(RLIMIT_FSIZE, &limit);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  Ran ran{WIFEXITED(status) ? WEXITSTATUS(status) : -1, content_of(out), content_of(err)};
  return ran;
}
