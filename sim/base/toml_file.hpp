// The part of TOML that our files use: keys with text, numbers, true or false, or lists of those,
// in tables.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "sim/base/text_file.hpp"

namespace gradcast {

enum class TomlKind { Text, Number, Boolean };

/// `key = value`.
struct TomlEntry {
  std::string table;  // "" before the first [table]; "a.b" in [a.b]
  std::string key;
  std::vector<std::string> values;  // text without quotes, numbers as number_to_text, true or false
  TomlKind kind = TomlKind::Text;   // of every value; an empty list is Text
  bool is_list = false;
  std::size_t line = 0;
};

struct TomlTable {
  std::string name;
  std::size_t line = 0;
};

struct TomlFile {
  std::string path;
  std::vector<TomlEntry> entries;  // in the order of the file
  std::vector<TomlTable> tables;   // likewise, with empty ones; without the one that has no name
};

/// Throws DataError with file and line where the file is not TOML, and for TOML that has no meaning
/// here: dates, numbers that are not finite, lists in lists, lists of tables or of different kinds.
TomlFile load_toml(const TextFile& file);

}  // namespace gradcast
