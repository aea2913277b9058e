#include "sim/import/weights/safetensors.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "sim/answers/json_reader.hpp"
#include "sim/base/clean_text.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/text_file.hpp"
#include "sim/import/weights/weight_notes.hpp"
#include "sim/import/weights/weight_order.hpp"

namespace gradcast {
namespace {

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
