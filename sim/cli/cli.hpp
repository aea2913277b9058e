#pragma once
namespace gradcast {
/// Runs one command and returns the exit code. Prints an error in one line on standard error.
int run_cli(int argc, const char* const* argv);
}  // namespace gradcast
