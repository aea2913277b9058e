// The reader of Nsight Systems' exports, as readers.def names it.
#include "sim/import/kineto/profile.hpp"
#include "sim/import/nsys/nsys_events.hpp"
#include "sim/import/nsys/sqlite_file.hpp"
#include "sim/import/readers.hpp"

namespace gradcast {

bool is_sqlite(std::string_view begin) {
  return begin.starts_with(std::string_view("SQLite format 3\0", 16));
}

}  // namespace gradcast

namespace gradcast::import_readers {

bool nsys_recognises(const FileHead& head) { return is_sqlite(head.bytes); }

Imported nsys_read(const std::vector<std::filesystem::path>& paths, const ImportOptions& options) {
  return kineto::import_profile(paths, options, "nsys", read_nsys_events);
}

}  // namespace gradcast::import_readers
