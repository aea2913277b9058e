#include "sim/inputs/compressor_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "sim/base/csv.hpp"
#include "sim/base/error.hpp"
#include "sim/base/formula.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/inputs/data_files.hpp"

namespace gradcast {
namespace {

namespace fs = std::filesystem;

constexpr std::array kCompressorColumns = {"property", "value", "source"};
constexpr std::array<std::string_view, 3> kPayloadNames = {"elements", "k", "ranks"};
constexpr std::size_t kPlaceOfK = 1;

struct FamilyWord {
  std::string_view word;
  Family family;
};
constexpr FamilyWord kFamilies[] = {{"sparsifier", Family::Sparsifier},
                                    {"cast", Family::Cast},
                                    {"quantiser", Family::Quantiser},
                                    {"low-rank", Family::LowRank}};

Family parse_family(const std::string& text) {
  std::vector<std::string> known;
  for (const FamilyWord& each : kFamilies) {
    if (each.word == text) return each.family;
    known.emplace_back(each.word);
  }
  throw ValueError("unknown family " + in_quotes(text) + did_you_mean(text, known) +
                   " (known: " + join(known) + ")");
}

Aggregation parse_aggregation(const std::string& text) {
  if (text == "all-reduce") return Aggregation::AllReduce;
  if (text == "all-gather") return Aggregation::AllGather;
  throw ValueError(in_quotes(text) +
                   " is not 'all-reduce' (encodings add up) or 'all-gather' (they do not); "
                   "--collective names the algorithm");
}

/// Throws ValueError where the formula gives no size.
double sent_bytes(const Formula& formula, double elements, double k, double ranks) {
  const std::array values{elements, k, ranks};
  const double bytes = formula.of(values);
  if (bytes >= 0 && bytes <= 1e15) return bytes;
  throw ValueError("formula " + in_quotes(formula.text()) + " gives " + number_to_text(bytes) +
                   " bytes for " + number_to_text(elements) + " elements, k " + number_to_text(k) +
                   ", " + number_to_text(ranks) + " ranks: no size");
}

/// A formula that gives a size for small and large tensors.
Formula parse_payload_formula(const std::string& text) {
  Formula formula(text, kPayloadNames);
  for (const double elements : {1.0, 1e3, 1e8})
    for (const double ranks : {1.0, 1e3})
      (void)sent_bytes(formula, elements, std::ceil(elements / 1e3), ranks);
  return formula;
}

/// Only compressors of the table have a definition that trains.
Compressor parse_mathematics(const std::string& name) {
  std::vector<std::string> known;
  for (const Compressor* ours : all_compressors()) {
    if (ours->family == Family::Dense) continue;
    if (ours->name == name) return *ours;
    known.emplace_back(ours->name);
  }
  throw ValueError("unknown compressor " + in_quotes(name) + did_you_mean(name, known) +
                   " (with a definition: " + join(known) + ")");
}

/// Refuses the names of compressors with kernels, and what lists and tables could not hold.
void require_name(const TextFile& file, const std::string& name) {
  for (const Compressor* ours : all_compressors())
    if (ours->name == name)
      throw DataError(
          file.path.string(), 0,
          in_quotes(name) + " is a compressor with kernels: give the file another name");
  if (name == "all" || name.find_first_of(", \t\"") != std::string::npos)
    throw DataError(file.path.string(), 0,
                    in_quotes(name) + " is no name of a compressor: take letters and digits");
}

}  // namespace

std::unique_ptr<DescribedCompressor> load_compressor(const TextFile& file) {
  auto made = std::make_unique<DescribedCompressor>();
  made->own_name = file.path.stem().string();
  made->folder = file.path.parent_path();
  require_name(file, made->own_name);
  CsvReader rows(file, kCompressorColumns);
  std::set<std::string> seen;
  std::optional<Formula> formula;
  std::size_t line_of_bytes = 0;
  const std::vector<std::string> known{"family",      "bytes",   "collective",
                                       "mathematics", "summary", "costs"};
  while (rows.next()) {
    const std::string name = rows.word("property");
    rows.word("source");
    rows.word("value");
    if (!seen.insert(name).second)
      throw rows.failure("property", in_quotes(name) + " stands twice");
    if (name == "family") {
      made->family = rows.value("value", parse_family);
    } else if (name == "bytes") {
      formula = rows.value("value", parse_payload_formula);
      made->own_source = rows.text("source");
      line_of_bytes = rows.line();
    } else if (name == "collective") {
      made->aggregation = rows.value("value", parse_aggregation);
    } else if (name == "mathematics") {
      made->trained = rows.value("value", parse_mathematics);
      made->mathematics = &made->trained;
    } else if (name == "summary") {
      made->own_summary = rows.text("value");
    } else if (name == "costs") {
      made->costs = rows.text("value");
    } else {
      throw rows.failure("property", "unknown property " + in_quotes(name) +
                                         did_you_mean(name, known) + " (known: " + join(known) +
                                         ")");
    }
  }
  for (const char* needed : {"family", "bytes", "collective"})
    if (!seen.contains(needed))
      throw rows.failure("the property '" + std::string(needed) + "' is missing");
  if (made->family != Family::Sparsifier && formula->uses(kPlaceOfK))
    throw DataError(
        file.path.string(), line_of_bytes,
        "k is the number of elements that a sparsifier keeps, and the family is another");
  made->formula = formula->text();
  made->sent = [formula = *formula](double elements, double k, double ranks) {
    return sent_bytes(formula, elements, k, ranks);
  };
  made->payload = &made->sent;
  made->name = made->trained.name = made->own_name;
  if (made->own_summary.empty())
    made->own_summary = "described by " + file.path.filename().string();
  made->summary = made->own_summary;
  made->source = made->own_source;
  made->exact_count = true;
  return made;
}

const DescribedCompressor* described(const Compressor& compressor) {
  return compressor.payload != nullptr ? static_cast<const DescribedCompressor*>(&compressor)
                                       : nullptr;
}

const Compressor* find_described(std::string_view name) {
  static std::mutex lock;
  static std::map<std::string, std::unique_ptr<const DescribedCompressor>> known;
  const std::lock_guard held(lock);
  for (const auto& [path, each] : known)
    if (each->own_name == name || each->typed == name) return each.get();
  const std::string typed(name);
  if (typed.find(',') != std::string::npos) return nullptr;  // a list, which is no name
  fs::path path = typed;
  if (!is_path(typed)) {
    const std::vector<std::string> names = described_names();
    if (std::find(names.begin(), names.end(), typed) == names.end()) return nullptr;
    path = DataFiles::standard().root() / kCompressorFiles.folder / (typed + ".csv");
  }
  std::error_code ignored;
  const std::string key = fs::weakly_canonical(path, ignored).string();
  if (const auto at = known.find(key); at != known.end()) return at->second.get();
  auto made = load_compressor(read_text_file(path));
  for (const auto& [other, each] : known)
    if (each->own_name == made->own_name)
      throw DataError(path.string(), 0, "has the name of " + other + ": give one of them another");
  made->typed = typed;
  return known.emplace(key, std::move(made)).first->second.get();
}

std::vector<std::string> described_names() {
  try {
    return DataFiles::standard().names(kCompressorFiles);
  } catch (const Error&) {  // no data folder: whoever needs one says so
    return {};
  }
}

}  // namespace gradcast
