#include "tests/fuzz/harness.hpp"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <stdexcept>

#include "sim/base/error.hpp"
#include "tests/temporary_folder.hpp"

namespace gradcast::fuzz {
namespace {

/// CPU time of this process alone: the machine may be busy.
double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

std::vector<const Harness*>& all_harnesses() {
  static std::vector<const Harness*> all;
  return all;
}

Harness::Harness(const char* reader, Read read) : reader_(reader), read_(read) {
  all_harnesses().push_back(this);
}

void Harness::run(const std::string& bytes) const {
  constexpr double kLongest = 2;  // seconds that an input of a few KB may take
  const double begin = cpu_seconds();
  try {
    read_(bytes);
  } catch (const Error& error) {
    if (error.code() == ExitCode::Failure)
      throw std::logic_error(std::string("an input is no failure of the machine: ") + error.what());
  } catch (const ValueError&) {  // the caller makes an Error of it
  }
  if (const double took = cpu_seconds() - begin; took > kLongest)
    throw std::logic_error("this input took " + std::to_string(took) + " s");
}

TextFile text_file(const std::string& bytes, const char* name) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  TextFile file{name, bytes};
  if (bytes.starts_with(kByteOrderMark)) file.content.erase(0, kByteOrderMark.size());
  if (bytes.find('\0') != std::string::npos) throw DataError(name, 0, "has a NUL byte");
  return file;
}

std::string file_of(const std::string& bytes, const std::string& name) {
  static const TemporaryFolder folder;
  std::ofstream file(folder.path / name, std::ios::binary | std::ios::trunc);
  file << bytes;
  return folder.path / name;
}

void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

}  // namespace gradcast::fuzz
