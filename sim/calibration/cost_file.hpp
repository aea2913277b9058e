// A cost table that grows while it is measured, and is whole at any moment.
#pragma once
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "sim/cost_table.hpp"

namespace gradcast {

/// A comment line "# key: value", or without a key a sentence.
struct Provenance {
  std::string key;
  std::string value;
  bool must_agree = false;  // rows that differ in it do not belong into one file
};

class CostFile {
 public:
  /// Continues the file where there is one. Throws DataError where it is no cost table, or one of
  /// another device, version or seed, or of other numbers of workers.
  CostFile(std::filesystem::path path, std::vector<Provenance> provenance,
           const std::vector<int>& workers);

  /// A further line of provenance: added where the file has none of its key, else it must agree.
  void require(const Provenance& line);
  /// The command that adds rows now, unless the comments tell of it.
  void tell_command(const std::string& command);

  bool has(const CostRow& row) const;
  /// Those of `rows` that it lacks, at the end; what stands there stays as it is, byte for byte.
  /// The file is replaced as a whole.
  void add(const std::vector<CostRow>& rows);

  const std::filesystem::path& path() const { return path_; }
  const std::vector<CostRow>& rows() const { return rows_; }

 private:
  void take_over(const TextFile& file, const std::vector<int>& workers);
  [[noreturn]] void refuse(const std::string& why) const;

  std::filesystem::path path_;
  std::vector<Provenance> provenance_;
  std::string comments_;
  std::string body_;  // header and rows
  std::vector<CostRow> rows_;
  std::set<std::string> keys_;
};

}  // namespace gradcast
