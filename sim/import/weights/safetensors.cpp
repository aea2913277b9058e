// The header of a file: 8 bytes, little-endian, its length; then JSON. The tensors follow.
#include "sim/import/weights/safetensors.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <set>

#include "sim/answers/json_reader.hpp"
#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/paths.hpp"
#include "sim/base/text.hpp"
#include "sim/base/text_file.hpp"
#include "sim/import/weights/weight.hpp"
#include "sim/import/weights/weight_order.hpp"

namespace gradcast {
namespace {

/// Limit of the format's own reader. A header needs 100 bytes a tensor.
constexpr std::uint64_t kLongestHeader = 100'000'000;

constexpr std::uint64_t kLengthBytes = 8;

struct ElementType {
  const char* name;
  std::uint64_t bits;
};

constexpr std::array kElementTypes = {
    ElementType{"BOOL", 8},    ElementType{"U8", 8},      ElementType{"I8", 8},
    ElementType{"F8_E5M2", 8}, ElementType{"F8_E4M3", 8}, ElementType{"F8_E8M0", 8},
    ElementType{"F4", 4},      ElementType{"F6_E2M3", 6}, ElementType{"F6_E3M2", 6},
    ElementType{"U16", 16},    ElementType{"I16", 16},    ElementType{"F16", 16},
    ElementType{"BF16", 16},   ElementType{"U32", 32},    ElementType{"I32", 32},
    ElementType{"F32", 32},    ElementType{"U64", 64},    ElementType{"I64", 64},
    ElementType{"F64", 64},    ElementType{"C64", 64},
};

/// Place of a tensor's values, from the end of the header.
struct Extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string name;
};

std::string shown(const std::string& name) {
  return in_quotes(shortened(clean_text(one_line(name)), 80));
}

/// Reads one header; knows the file for its errors.
class Header {
 public:
  explicit Header(const std::filesystem::path& path) : path_(path.string()) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    std::error_code ignored;
    if (!file || std::filesystem::is_directory(path, ignored))
      throw failure("cannot read this file");
    const std::uint64_t size = static_cast<std::uint64_t>(file.tellg());
    file.seekg(0);
    if (size < kLengthBytes)
      throw failure("has " + std::to_string(size) +
                    " bytes; a safetensors file begins with 8 for the length of its header");
    std::array<unsigned char, kLengthBytes> length{};
    file.read(reinterpret_cast<char*>(length.data()), kLengthBytes);
    std::uint64_t bytes = 0;
    for (std::size_t i = kLengthBytes; i-- > 0;) bytes = bytes << 8 | length[i];
    if (bytes > kLongestHeader)
      throw failure("says its header has " + std::to_string(bytes) + " bytes; the most is " +
                    std::to_string(kLongestHeader));
    if (bytes > size - kLengthBytes)
      throw failure("says its header has " + std::to_string(bytes) + " bytes, but only " +
                    std::to_string(size - kLengthBytes) + " follow; is the file cut off?");
    text_.resize(bytes);
    file.read(text_.data(), static_cast<std::streamsize>(bytes));
    if (!file) throw failure("cannot read this file");
    values_ = size - kLengthBytes - bytes;
  }

  std::vector<Weight> weights() {
    const Json head = parse_json(text_, path_);
    if (!head.is_object()) throw failure("has a header that is no JSON object");
    std::vector<Weight> weights;
    std::set<std::string> names;
    for (const auto& [name, entry] : head.items()) {
      if (name == "__metadata__") continue;
      if (!names.insert(name).second) throw failure("has two tensors " + shown(name));
      weights.push_back(weight(name, entry));
    }
    if (weights.empty()) throw failure("has no tensors");
    require_apart();
    return weights;
  }

 private:
  DataError failure(const std::string& what) const { return {path_, 0, what}; }

  DataError failure(const std::string& name, const std::string& what) const {
    return failure("tensor " + shown(name) + " " + what);
  }

  Weight weight(const std::string& name, const Json& entry) {
    if (name.empty() || std::any_of(name.begin(), name.end(), is_control))
      throw failure("has a tensor whose name is " +
                    std::string(name.empty() ? "empty" : "no plain text"));
    const auto member = [&](const char* key) -> const Json& {
      const auto at = entry.is_object() ? entry.find(key) : entry.end();
      if (at == entry.end()) throw failure(name, std::string("has no \"") + key + "\"");
      return *at;
    };
    Weight weight{name, {}, ""};
    const Json& type = member("dtype");
    const auto known =
        std::find_if(kElementTypes.begin(), kElementTypes.end(), [&](const ElementType& each) {
          return type.is_string() && type.get_ref<const std::string&>() == each.name;
        });
    if (known == kElementTypes.end())
      throw failure(name, "has the type " +
                              shown(type.is_string() ? type.get<std::string>() : type.dump()) +
                              ", which safetensors has not (F32, BF16, ...)");
    weight.type = known->name;
    const Json& shape = member("shape");
    constexpr std::size_t kMostDimensions = 32;
    if (!shape.is_array() || shape.size() > kMostDimensions)
      throw failure(name, "has a \"shape\" that is no list of sizes");
    for (const Json& size : shape) {
      if (!size.is_number_integer() ||
          (size.is_number_unsigned() &&
           size.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()))
        throw failure(name, "has the size " + shown(size.dump()) + ", which is none");
      weight.shape.push_back(size.get<std::int64_t>());
    }
    std::uint64_t elements = 0;
    try {
      elements = static_cast<std::uint64_t>(weight.elements());
    } catch (const ValueError& error) {
      throw failure(name, std::string("has ") + error.what());
    }
    const std::uint64_t bytes = (elements * known->bits + 7) / 8;
    weight.bytes = static_cast<std::int64_t>(bytes);
    keep_extent(name, member("data_offsets"), bytes);
    return weight;
  }

  void keep_extent(const std::string& name, const Json& offsets, std::uint64_t bytes) {
    if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
        !offsets[1].is_number_unsigned())
      throw failure(name, "has \"data_offsets\" that are no two places");
    const Extent extent{offsets[0].get<std::uint64_t>(), offsets[1].get<std::uint64_t>(), name};
    if (extent.begin > extent.end || extent.end - extent.begin != bytes)
      throw failure(name, "lies from " + std::to_string(extent.begin) + " to " +
                              std::to_string(extent.end) + "; its shape and type take " +
                              std::to_string(bytes) + " bytes");
    if (values_ > 0 && extent.end > values_)
      throw failure(name, "ends at byte " + std::to_string(extent.end) + " of the " +
                              std::to_string(values_) +
                              " that follow the header; is the file cut off?");
    extents_.push_back(extent);
  }

  void require_apart() {
    std::sort(extents_.begin(), extents_.end(), [](const Extent& a, const Extent& b) {
      return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
    });
    for (std::size_t i = 1; i < extents_.size(); ++i)
      if (extents_[i].begin < extents_[i - 1].end)
        throw failure(extents_[i].name, "lies over " + shown(extents_[i - 1].name));
  }

  std::string path_;
  std::string text_;
  std::uint64_t values_ = 0;  // bytes that follow the header
  std::vector<Extent> extents_;
};

constexpr std::string_view kIndexEnding = ".index.json";

bool is_index(const std::filesystem::path& path) {
  return path.filename().string().ends_with(kIndexEnding);
}

/// The tensors that an index promises, by the file that should have them.
std::map<std::string, std::set<std::string>> read_index(const std::filesystem::path& path) {
  const TextFile file = read_text_file(path);
  const Json index = parse_json(file.content, path.string());
  const auto map = index.is_object() ? index.find("weight_map") : index.end();
  if (map == index.end() || !map->is_object() || map->empty())
    throw DataError(path.string(), 0, "has no \"weight_map\" of tensors and files");
  std::map<std::string, std::set<std::string>> promised;
  for (const auto& [tensor, where] : map->items()) {
    // The files lie beside the index: a path could lead anywhere.
    if (!where.is_string() || where.get_ref<const std::string&>().empty() ||
        std::filesystem::path(where.get<std::string>()).filename() != where.get<std::string>())
      throw DataError(path.string(), 0,
                      "names for " + in_quotes(shortened(clean_text(one_line(tensor)), 80)) +
                          " no file beside it");
    promised[where.get<std::string>()].insert(tensor);
  }
  return promised;
}

/// The files to read: those of an index in its stead, each once.
std::vector<std::filesystem::path> files_meant(const std::vector<std::filesystem::path>& named) {
  std::vector<std::filesystem::path> files;
  const auto add = [&](const std::filesystem::path& path) {
    const std::filesystem::path plain = path.lexically_normal();
    if (std::find(files.begin(), files.end(), plain) == files.end()) files.push_back(plain);
  };
  for (const std::filesystem::path& path : named) {
    if (!is_index(path)) {
      add(path);
      continue;
    }
    for (const auto& [file, tensors] : read_index(path)) {
      const std::filesystem::path beside = path.parent_path() / file;
      if (!std::filesystem::exists(beside))
        throw DataError(path.string(), 0,
                        "names " + in_quotes(shortened(clean_text(one_line(file)), 80)) +
                            ", which does not lie beside it");
      require_regular(beside);
      add(beside);
    }
  }
  return files;
}

void require_all_that_were_promised(const std::vector<std::filesystem::path>& named,
                                    const std::set<std::string>& found) {
  for (const std::filesystem::path& path : named) {
    if (!is_index(path)) continue;
    for (const auto& [file, tensors] : read_index(path))
      for (const std::string& tensor : tensors)
        if (!found.contains(tensor))
          throw DataError(path.string(), 0,
                          "says that " + in_quotes(shortened(clean_text(one_line(file)), 80)) +
                              " has " + in_quotes(shortened(clean_text(one_line(tensor)), 80)) +
                              ", which it has not");
  }
}

}  // namespace

std::vector<Weight> read_safetensors_header(const std::filesystem::path& path) {
  return Header(path).weights();
}

bool is_safetensors(const std::filesystem::path& path, std::string_view begin) {
  if (is_index(path))
    return begin.find("weight_map") != std::string_view::npos ||
           path.filename().string().find("safetensors") != std::string::npos;
  // Whatever stands in a file of that name: what is wrong with it is worth a line of its own.
  if (path.extension() == ".safetensors") return true;
  // The length of a header has three zeros or more behind its 100,000,000 at most.
  return begin.size() > 9 && begin[8] == '{' &&
         begin.substr(4, 4) == std::string_view("\0\0\0\0", 4);
}

std::vector<Weight> read_safetensors(const std::vector<std::filesystem::path>& named,
                                     ImportNotes& notes) {
  const std::vector<std::filesystem::path> files = files_meant(named);
  std::vector<Weight> weights;
  std::set<std::string> names;
  for (const std::filesystem::path& path : files) {
    for (Weight& weight : read_safetensors_header(path)) {
      if (!names.insert(weight.name).second)
        throw DataError(path.string(), 0,
                        "has " + in_quotes(shortened(clean_text(weight.name), 80)) +
                            ", which an earlier file has too");
      weights.push_back(std::move(weight));
    }
  }
  require_all_that_were_promised(named, names);
  notes.used.push_back("the headers of " + std::to_string(files.size()) +
                       (files.size() == 1 ? " file" : " files") + "; no weights were read");
  refuse_quantised(weights, files.front().string());
  refuse_adapters(weights, files.front().string());
  drop_untrained(weights, notes);
  require_sane_sum(weights, files.front().string());
  if (weights.empty())
    throw DataError(files.front().string(), 0, "has no tensor that could be trained");
  sort_in_forward_order(weights);
  notes.inferred.push_back(
      "the order of the tensors, from their names: a checkpoint has them by name, not as the "
      "network runs");
  note_tied_head(weights, notes);
  return weights;
}

}  // namespace gradcast
