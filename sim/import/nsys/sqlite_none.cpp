#include "sim/base/error.hpp"
#include "sim/import/nsys/sqlite_file.hpp"

namespace gradcast {

bool sqlite_built() { return false; }

struct SqliteFile::State {};

SqliteFile::SqliteFile(const std::filesystem::path& path, std::vector<std::string>)
    : path_(path.string()) {
  throw MissingError(path_ +
                     ": this build has no SQLite (Debian: libsqlite3-dev), so it cannot read "
                     "databases of Nsight Systems");
}

SqliteFile::~SqliteFile() = default;

bool SqliteFile::has(const std::string&) const { return false; }

void SqliteFile::each_row(const std::string&, const std::vector<std::string>&,
                          const std::function<void(const SqliteRow&)>&) const {}

}  // namespace gradcast
