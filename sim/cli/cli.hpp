#pragma once
namespace gradcast {
/// Runs one command, prints what is wrong in one line on standard error; returns the exit code.
int run_cli(int argc, const char* const* argv);
}  // namespace gradcast
