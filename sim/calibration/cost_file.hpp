// A cost table that grows while it is measured. The file is complete at any moment.
#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/inputs/cost_table.hpp"

namespace gradcast {

/// A comment line "# key: value", or without a key a sentence.
struct Provenance {
  std::string key;
  std::string value;
  bool must_agree = false;  // if true, all rows of a file must have the same value
};

class CostFile {
 public:
  /// Continues the file if it exists and is not empty. Throws DataError if it is not a cost table,
  /// or is one of another device, version or seed, or of other numbers of workers; UsageError if it
  /// is not a regular file; Error (1) if no file can be made there.
  /// `types`: there will be rows of other gradients than fp32, so it has a column for that.
  CostFile(std::filesystem::path path, std::vector<Provenance> provenance,
           const std::vector<int>& workers, bool types = false);

  /// Adds a line of provenance if the file has none with its key. If it has one, the two must
  /// agree.
  void require(const Provenance& line);
  /// Adds to the comments the command that adds rows now, unless it is there already.
  void tell_command(const std::string& typed);

  /// Has the comments say what is still to be measured, in place of what they said before; "": they
  /// say nothing of it. It is written with the next rows.
  void tell_not_reached(const std::string& words);

  bool has(const CostRow& row) const;
  /// Appends those of `rows` that the file lacks. Rows in the file stay as they are, byte for
  /// byte, but for a column of types that they lacked.
  /// The file is replaced as a whole. Throws Error (1) if the file is not as it was read or written
  /// last: another run has added to it, and its rows must stay.
  void add(const std::vector<CostRow>& rows);

  const std::filesystem::path& path() const { return path_; }
  const std::vector<CostRow>& rows() const { return rows_; }

 private:
  void take_over(const TextFile& file, const std::vector<int>& workers);
  /// The content of the file now; nothing if there is no file.
  std::optional<TextFile> on_disk() const;
  [[noreturn]] void refuse(const std::string& why) const;

  std::filesystem::path path_;
  std::vector<Provenance> provenance_;
  bool types_;
  std::string comments_;
  std::string body_;                      // header and rows
  std::optional<std::string> last_seen_;  // the file as it was read or written last
  std::vector<CostRow> rows_;
  std::set<std::string> keys_;
};

}  // namespace gradcast
