#include "sim/base/toml_file.hpp"

// Only reading is needed; the rest takes long to compile.
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/toml_guard.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

class Reader {
 public:
  explicit Reader(TomlFile& result) : result_(result) {}

  void read_table(const toml::table& table, const std::string& name) {
    for (const auto& [key, node] : table) {
      const std::string word(key.str());
      if (const toml::table* inner = node.as_table()) {
        const std::string inner_name = name.empty() ? word : join({name, word}, ".");
        result_.tables.push_back({inner_name, line_of(*inner)});
        read_table(*inner, inner_name);
      } else {
        read_entry(name, word, node);
      }
    }
  }

 private:
  static std::size_t line_of(const toml::node& node) { return node.source().begin.line; }

  void read_entry(const std::string& table, const std::string& key, const toml::node& node) {
    TomlEntry entry{table, key, {}, TomlKind::Text, node.is_array(), line_of(node)};
    if (const toml::array* list = node.as_array())
      for (const toml::node& value : *list) add_value(entry, value);
    else
      add_value(entry, node);
    result_.entries.push_back(std::move(entry));
  }

  void add_value(TomlEntry& entry, const toml::node& node) {
    const auto refuse = [&](const std::string& why) {
      return DataError(result_.path, line_of(node), "'" + entry.key + "' " + why);
    };
    std::string text;
    TomlKind kind = TomlKind::Text;
    if (const auto* word = node.as_string()) {
      text = word->get();
    } else if (const auto* whole = node.as_integer()) {
      kind = TomlKind::Number;
      text = std::to_string(whole->get());
    } else if (const auto* number = node.as_floating_point()) {
      kind = TomlKind::Number;
      if (!std::isfinite(number->get())) throw refuse("is not a finite number");
      text = number_to_text(number->get());
    } else if (const auto* truth = node.as_boolean()) {
      kind = TomlKind::Boolean;
      text = truth->get() ? "true" : "false";
    } else if (node.is_table()) {
      throw refuse("is a list of tables, which mean nothing here");
    } else if (node.is_array()) {
      throw refuse("is a list of lists; write one list");
    } else {
      throw refuse("is a date or a time of day, which mean nothing here; a text needs quotes");
    }
    if (!entry.values.empty() && kind != entry.kind)
      throw refuse("is a list of different kinds; write all of them as texts in quotes");
    entry.kind = kind;
    entry.values.push_back(std::move(text));
  }

  TomlFile& result_;
};

}  // namespace

TomlFile load_toml(const TextFile& file) {
  require_readable_toml(file);
  TomlFile result{file.path.string(), {}, {}};
  try {
    const toml::table root = toml::parse(std::string_view(file.content), result.path);
    Reader(result).read_table(root, "");
  } catch (const toml::parse_error& error) {
    throw DataError(result.path, error.source().begin.line,
                    "this is not TOML: " + std::string(error.description()));
  }
  // toml++ sorts by name.
  const auto by_line = [](const auto& a, const auto& b) { return a.line < b.line; };
  std::stable_sort(result.entries.begin(), result.entries.end(), by_line);
  std::stable_sort(result.tables.begin(), result.tables.end(), by_line);
  return result;
}

}  // namespace gradcast
