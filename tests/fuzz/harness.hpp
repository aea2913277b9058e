// A harness gives the bytes of one input to one reader. libFuzzer finds inputs (`scripts/fuzz`),
// and the test `fuzz_replay` runs those that are kept through every harness, in every build.
#pragma once
#include <string>
#include <vector>

#include "sim/base/text_file.hpp"

namespace gradcast::fuzz {

/// A file x_fuzz.cpp has one: `const Harness harness{"x", read};` joins the list of all. `read`
/// reads the bytes and uses what it read. It may throw what the reader documents: an Error that is
/// no Failure, or a ValueError. Anything else that it throws is a defect.
class Harness {
 public:
  using Read = void (*)(const std::string& bytes);
  Harness(const char* reader, Read read);
  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;

  const std::string& reader() const { return reader_; }

  /// Runs one input. Throws std::logic_error for a complaint that blames the machine, and for an
  /// input that took more than two seconds.
  void run(const std::string& bytes) const;

 private:
  std::string reader_;
  Read read_;
};

/// The harnesses of this program: one if libFuzzer drives it.
std::vector<const Harness*>& all_harnesses();

/// The bytes as a text file has them. Throws DataError as read_text_file does.
TextFile text_file(const std::string& bytes, const char* name);

/// A file with these bytes, for readers that want a path. The next call overwrites it.
std::string file_of(const std::string& bytes, const std::string& name);

/// Throws std::logic_error if a property of every input does not hold.
void require(bool holds, const char* what);

}  // namespace gradcast::fuzz
