// Forecasts that are done, kept by their keys: what an interrupted sweep resumes from, and what
// shards bring together.
#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "sim/forecast/evaluation.hpp"

namespace gradcast {

/// A line of a store, and back. Numbers come back to the last bit.
std::string to_line(const std::string& key, const Evaluation& evaluation);
Evaluation from_line(const std::string& line);

using Evaluations = std::map<std::string, Evaluation>;  // by key

/// A file, written whole when all is done, and beside it one that grows while a process works:
/// "NAME.HOST-PROCESS.part". A part whose last line was cut off by a crash gives what is whole; two
/// processes that do the same work do not meet.
class Store {
 public:
  /// Reads what is there: the file, and all parts. Throws DataError for a file that is no store.
  explicit Store(std::filesystem::path file);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  const Evaluations& done() const { return done_; }
  /// Appended at once. Throws Error (1) where the disk refuses; call it before the work to know.
  void open_part();
  void add(const std::string& key, const Evaluation& evaluation);
  /// Writes these, sorted by key, and removes all parts.
  void finish(const Evaluations& all);

 private:
  std::filesystem::path file_;
  std::filesystem::path part_;
  int descriptor_ = -1;
  Evaluations done_;
};

/// Of a whole file alone, without parts. Throws DataError.
Evaluations read_store(const std::filesystem::path& file);

}  // namespace gradcast
