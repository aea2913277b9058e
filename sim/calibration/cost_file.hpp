// A cost table that grows while it is measured, and is whole at any moment.
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
  bool must_agree = false;  // rows that differ in it do not belong into one file
};

class CostFile {
 public:
  /// Continues the file where there is one; an empty one is as good as none. Throws DataError where
  /// it is no cost table, or one of another device, version or seed, or of other numbers of
  /// workers; UsageError where it is no regular file or its folder is not there; Error (1) where
  /// the folder takes no new file.
  CostFile(std::filesystem::path path, std::vector<Provenance> provenance,
           const std::vector<int>& workers);

  /// A further line of provenance: added where the file has none of its key, else it must agree.
  void require(const Provenance& line);
  /// The command that adds rows now, unless the comments tell of it.
  void tell_command(const std::string& command);

  bool has(const CostRow& row) const;
  /// Those of `rows` that it lacks, at the end; what stands there stays as it is, byte for byte.
  /// The file is replaced as a whole. Throws Error (1) where it is not what was read or written
  /// last: another run has added to it, and its rows must stand.
  void add(const std::vector<CostRow>& rows);

  const std::filesystem::path& path() const { return path_; }
  const std::vector<CostRow>& rows() const { return rows_; }

 private:
  void take_over(const TextFile& file, const std::vector<int>& workers);
  /// What stands there now; nothing where there is no file.
  std::optional<TextFile> on_disk() const;
  [[noreturn]] void refuse(const std::string& why) const;

  std::filesystem::path path_;
  std::vector<Provenance> provenance_;
  std::string comments_;
  std::string body_;                      // header and rows
  std::optional<std::string> last_seen_;  // the file as it was read or written last
  std::vector<CostRow> rows_;
  std::set<std::string> keys_;
};

}  // namespace gradcast
