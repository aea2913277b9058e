// Databases that others wrote, read row by row: nothing in them is run, and only the tables that a
// reader names are looked at.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gradcast {

/// False if this build lacks SQLite. SqliteFile then throws MissingError.
bool sqlite_built();

/// Whether a file begins as a SQLite database does.
bool is_sqlite(std::string_view begin);

/// One row; its texts are valid while it is handed over.
class SqliteRow {
 public:
  virtual ~SqliteRow() = default;
  /// `fallback` for null, for a text, and for a column that the table lacks.
  virtual std::int64_t integer(std::size_t column, std::int64_t fallback) const = 0;
  /// "" likewise.
  virtual std::string_view text(std::size_t column) const = 0;
  virtual bool null(std::size_t column) const = 0;
};

class SqliteFile {
 public:
  /// `tables`: all that may be read. Throws DataError for a file that is no database.
  SqliteFile(const std::filesystem::path& path, std::vector<std::string> tables);
  ~SqliteFile();

  const std::string& path() const { return path_; }
  /// Whether a table is there. Not so where a view has its name.
  bool has(const std::string& table) const;
  /// Hands over the columns of each row, in the order of the file; what a table lacks is null.
  /// Throws DataError for a damaged file.
  void each_row(const std::string& table, const std::vector<std::string>& columns,
                const std::function<void(const SqliteRow&)>& take) const;

 private:
  struct State;
  std::string path_;
  std::unique_ptr<State> state_;
};

}  // namespace gradcast
