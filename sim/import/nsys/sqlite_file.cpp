#include "sim/import/nsys/sqlite_file.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <array>

#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

constexpr int kLongestValue = 1 << 20;  // bytes of a text or a row

/// A URI, so that the file is opened as one that nobody changes: no journal is looked for beside
/// it.
std::string uri_of(const std::string& path) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char letter : path) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9') || letter == '/' || letter == '.' ||
                       letter == '-' || letter == '_';
    if (plain) {
      uri += letter;
    } else {
      uri += '%';
      uri += kHex[byte >> 4];
      uri += kHex[byte & 15];
    }
  }
  return uri + "?mode=ro&immutable=1";
}

/// Only SELECT, and only of the tables that were named: an export of Nsight Systems also holds the
/// environment of the process that it watched, with whatever secrets stand there.
int authorize(void* tables, int action, const char* table, const char*, const char*, const char*) {
  const auto& named = *static_cast<const std::vector<std::string>*>(tables);
  if (action == SQLITE_SELECT || action == SQLITE_PRAGMA) return SQLITE_OK;
  if (action != SQLITE_READ || table == nullptr) return SQLITE_DENY;
  const std::string_view wanted = table;
  // SQLite itself reads these to answer PRAGMA table_info.
  if (wanted == "pragma_table_info" || wanted == "sqlite_master") return SQLITE_OK;
  return std::find(named.begin(), named.end(), wanted) != named.end() ? SQLITE_OK : SQLITE_DENY;
}

struct Finalized {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

using Statement = std::unique_ptr<sqlite3_stmt, Finalized>;

class Row : public SqliteRow {
 public:
  Row(sqlite3_stmt* statement, const std::vector<int>& places)
      : statement_(statement), places_(places) {}

  std::int64_t integer(std::size_t column, std::int64_t fallback) const override {
    const int place = places_[column];
    if (place < 0 || sqlite3_column_type(statement_, place) != SQLITE_INTEGER) return fallback;
    return sqlite3_column_int64(statement_, place);
  }

  std::string_view text(std::size_t column) const override {
    const int place = places_[column];
    if (place < 0 || sqlite3_column_type(statement_, place) != SQLITE_TEXT) return {};
    const unsigned char* letters = sqlite3_column_text(statement_, place);
    if (letters == nullptr) return {};
    return {reinterpret_cast<const char*>(letters),
            static_cast<std::size_t>(sqlite3_column_bytes(statement_, place))};
  }

  bool null(std::size_t column) const override {
    const int place = places_[column];
    return place < 0 || sqlite3_column_type(statement_, place) == SQLITE_NULL;
  }

 private:
  sqlite3_stmt* statement_;
  const std::vector<int>& places_;
};

}  // namespace

bool sqlite_built() { return true; }

struct SqliteFile::State {
  std::unique_ptr<sqlite3, decltype(&sqlite3_close_v2)> database{nullptr, &sqlite3_close_v2};
  std::vector<std::string> tables;
  std::string path;

  DataError failure() const {
    return {path, 0,
            "is no whole SQLite database: " +
                shortened(clean_text(one_line(sqlite3_errmsg(database.get()))), 100)};
  }

  /// Prepares a query of a table that was named, so that its name needs no quotes.
  Statement prepare(const std::string& text) const {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database.get(), text.c_str(), -1, &statement, nullptr) != SQLITE_OK)
      throw failure();
    return Statement(statement);
  }

  std::vector<std::string> columns_of(const std::string& table) const {
    const Statement statement = prepare("PRAGMA table_info(" + table + ")");
    std::vector<std::string> columns;
    int result = SQLITE_ROW;
    while ((result = sqlite3_step(statement.get())) == SQLITE_ROW) {
      const unsigned char* name = sqlite3_column_text(statement.get(), 1);
      if (name != nullptr) columns.emplace_back(reinterpret_cast<const char*>(name));
    }
    if (result != SQLITE_DONE) throw failure();
    return columns;
  }
};

SqliteFile::SqliteFile(const std::filesystem::path& path, std::vector<std::string> tables)
    : path_(path.string()), state_(std::make_unique<State>()) {
  state_->path = path_;
  state_->tables = std::move(tables);
  sqlite3* database = nullptr;
  const int opened = sqlite3_open_v2(uri_of(path_).c_str(), &database,
                                     SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  state_->database.reset(database);
  if (database == nullptr) throw std::bad_alloc();
  if (opened != SQLITE_OK) throw state_->failure();
  // Views and triggers are programs: a view of a hostile file may never end.
  for (const int off : {SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_TRIGGER,
                        SQLITE_DBCONFIG_TRUSTED_SCHEMA})
    sqlite3_db_config(database, off, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kLongestValue);
  sqlite3_set_authorizer(database, authorize, &state_->tables);
}

SqliteFile::~SqliteFile() = default;

bool SqliteFile::has(const std::string& table) const { return !state_->columns_of(table).empty(); }

void SqliteFile::each_row(const std::string& table, const std::vector<std::string>& columns,
                          const std::function<void(const SqliteRow&)>& take) const {
  const std::vector<std::string> known = state_->columns_of(table);
  std::string list;
  std::vector<int> places;
  int next = 0;
  for (const std::string& column : columns) {
    const bool there = std::find(known.begin(), known.end(), column) != known.end();
    places.push_back(there ? next++ : -1);
    if (there) list += (list.empty() ? "\"" : ", \"") + column + "\"";
  }
  if (list.empty()) return;
  const Statement statement = state_->prepare("SELECT " + list + " FROM " + table);
  const Row row(statement.get(), places);
  int result = SQLITE_ROW;
  while ((result = sqlite3_step(statement.get())) == SQLITE_ROW) take(row);
  if (result == SQLITE_NOMEM) throw std::bad_alloc();
  if (result != SQLITE_DONE) throw state_->failure();
}

}  // namespace gradcast
