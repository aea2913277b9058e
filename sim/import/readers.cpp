#include "sim/import/readers.hpp"

#include <array>

#include "sim/base/block_reader.hpp"
#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"

namespace gradcast {

namespace import_readers {
#define READER(name, folder, what)                                      \
  bool name##_recognises(const FileHead& head);                         \
  Imported name##_read(const std::vector<std::filesystem::path>& paths, \
                       const ImportOptions& options);
#include "sim/import/readers.def"
#undef READER
}  // namespace import_readers

namespace {

constexpr std::array kReaders = {
#define READER(name, folder, what) \
  ImportReader{#name, what, import_readers::name##_recognises, import_readers::name##_read},
#include "sim/import/readers.def"
#undef READER
};

/// Enough for what stands before a trace's events.
constexpr std::size_t kHeadBytes = std::size_t{1} << 16;

FileHead head_of(const std::filesystem::path& path) {
  BlockReader file(path);
  FileHead head{path, {}};
  for (std::string_view block = file.next(); !block.empty(); block = file.next()) {
    head.bytes += block.substr(0, kHeadBytes - head.bytes.size());
    if (head.bytes.size() >= kHeadBytes) break;
  }
  return head;
}

/// A tar archive names its format behind the fields of its first entry.
bool is_tar(std::string_view bytes) {
  constexpr std::size_t kMagic = 257;
  return bytes.size() > kMagic && bytes.substr(kMagic).starts_with("ustar");
}

std::vector<std::string> known_kinds() {
  std::vector<std::string> names;
  for (const ImportReader& reader : kReaders) names.emplace_back(reader.name);
  return names;
}

const ImportReader& reader_for(const std::filesystem::path& path) {
  const FileHead head = head_of(path);
  if (head.bytes.empty()) throw DataError(path.string(), 0, "is empty");
  if (is_tar(head.bytes))
    throw DataError(path.string(), 0,
                    "is a tar archive; unpack it (tar -xf), and import the file that was in it");
  for (const ImportReader& reader : kReaders)
    if (reader.recognises(head)) return reader;
  if (is_utf16(head.bytes))
    throw DataError(path.string(), 0, std::string(kUtf16Words) + ", and import that");
  throw DataError(path.string(), 0,
                  "is none of the kinds that can be imported (" + join(known_kinds()) +
                      "; `gradcast import --help` says what they are); --kind forces one");
}

}  // namespace

std::span<const ImportReader> import_readers_in_order() { return kReaders; }

const ImportReader& import_reader_named(const std::string& name) {
  for (const ImportReader& reader : kReaders)
    if (reader.name == name) return reader;
  throw ValueError("unknown kind '" + name + "'" + did_you_mean(name, known_kinds()) +
                   " (known: " + join(known_kinds()) + ")");
}

const ImportReader& import_reader_for(const std::vector<std::filesystem::path>& paths) {
  const ImportReader& first = reader_for(paths.front());
  for (std::size_t i = 1; i < paths.size(); ++i)
    if (const ImportReader& other = reader_for(paths[i]); &other != &first)
      throw DataError(paths[i].string(), 0,
                      "is of another kind (" + std::string(other.name) + ") than " +
                          paths.front().string() + " (" + std::string(first.name) +
                          "); import them one by one");
  return first;
}

}  // namespace gradcast
