// Keeps finished forecasts by their keys. An interrupted sweep resumes from them, and shards are
// merged by them.
#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "sim/forecast/evaluation.hpp"

namespace gradcast {

/// Writes a line of a store, and reads it back. Numbers come back to the last bit.
std::string to_line(const std::string& key, const Evaluation& evaluation);
Evaluation from_line(const std::string& line);

using Evaluations = std::map<std::string, Evaluation>;  // by key

/// The store is a file that is written whole when all is done. Beside it, each process at work has
/// a file that grows: "NAME.HOST-PROCESS.part". If a crash cut off the last line of a part, its
/// whole lines are used. Two processes that do the same work do not disturb each other.
class Store {
 public:
  /// Reads the file and all parts, as far as they exist. Throws DataError for a file that is not a
  /// store.
  explicit Store(std::filesystem::path file);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  const Evaluations& done() const { return done_; }
  /// Opens this process's part, to which add() writes at once. Throws Error (1) if the disk
  /// refuses; to call it before the work shows that early.
  void open_part();
  void add(const std::string& key, const Evaluation& evaluation);
  /// Writes these to the file, sorted by key, and removes all parts.
  void finish(const Evaluations& all);

 private:
  std::filesystem::path file_;
  std::filesystem::path part_;
  int descriptor_ = -1;
  Evaluations done_;
};

/// Reads a whole file only, without parts. Throws DataError.
Evaluations read_store(const std::filesystem::path& file);

}  // namespace gradcast
