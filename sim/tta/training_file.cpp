#include "sim/tta/training_file.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "sim/answers/json_reader.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/inputs/cost_table.hpp"

namespace gradcast {
namespace {

/// Columns that every evaluation must have.
constexpr const char* kNeeded[] = {"network", "compressor", "workers",
                                   "batch",   "seed",       "iteration",
                                   "density", "dataset",    "test_accuracy_percent"};
/// Optional columns.
constexpr const char* kHelpful[] = {"mode", "parameters", "sent_elements_mean"};

/// Settings that decide how many iterations a training takes: the optimiser's, and those of a
/// compressor beside its selection.
constexpr const char* kOfOptimiser[] = {"learning_rate", "learning_rate_warmup", "momentum",
                                        "weight_decay"};
constexpr const char* kOfCompressing[] = {
    "selection",      "aggregation", "candidates",   "feedback",
    "masking",        "shared_seed", "shared_scale", "momentum_correction",
    "density_warmup", "parameter",   "value_type"};

constexpr std::int64_t kMostIterations = std::int64_t{1} << 40;

/// One evaluation as text, whichever file it was in.
struct TrainingRow {
  std::map<std::string, std::string> values;
  std::function<DataError(const std::string& column, const std::string& what)> failure;

  const std::string& text(const std::string& column) const { return values.at(column); }

  template <class Parse>
  auto value(const std::string& column, Parse parse) const {
    if (text(column).empty()) throw failure(column, "is missing; every evaluation needs one");
    try {
      return parse(text(column));
    } catch (const ValueError& error) {
      throw failure(column, error.what());
    }
  }

  const std::string& word(const std::string& column) const {
    if (text(column).empty()) throw failure(column, "is empty; write a name");
    return text(column);
  }
};

double parse_accuracy(const std::string& text) {
  const double percent = parse_number(text);
  if (percent >= 0 && percent <= 100) return percent;
  throw ValueError("'" + text + "' is no accuracy; write percent from 0 to 100 like 84.5");
}

std::int64_t parse_iterations(const std::string& text) {
  const std::int64_t iterations = parse_integer(text);
  if (iterations >= 0 && iterations <= kMostIterations) return iterations;
  throw ValueError("'" + text + "' is no number of iterations; write one like 870");
}

double parse_sent(const std::string& text) {
  const double elements = parse_number(text);
  if (elements >= 0) return elements;
  throw ValueError("'" + text + "' is no number of elements; write one like 199");
}

/// Throws ValueError for "nan" and "inf": no training has such a setting, and rows that differ in
/// one would be two trainings. Other words may be settings of other programs.
std::string parse_setting(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, number);
  if (read == end && (error != std::errc{} || !std::isfinite(number)))
    throw ValueError("'" + text + "' is no finite number; write one like 0.01");
  return text;
}

/// All columns that may be there, and need not.
std::vector<const char*> helpful() {
  std::vector<const char*> columns(std::begin(kHelpful), std::end(kHelpful));
  columns.insert(columns.end(), std::begin(kOfOptimiser), std::end(kOfOptimiser));
  columns.insert(columns.end(), std::begin(kOfCompressing), std::end(kOfCompressing));
  return columns;
}

template <class Names>
void add_settings(std::string& settings, const TrainingRow& row, const Names& names) {
  for (const char* name : names) {
    if (row.text(name).empty()) continue;
    if (!settings.empty()) settings += kBetweenSettings;
    settings += std::string(name) + " " + row.value(name, parse_setting);
  }
}

bool says_yes(const TrainingRow& row, const char* column) {
  return row.text(column) == "true" || row.text(column) == "yes";
}

TrainingSetup setup_of(const TrainingRow& row) {
  TrainingSetup setup;
  setup.network = row.word("network");
  setup.dataset = row.text("dataset");
  setup.compressor = row.word("compressor");
  setup.workers = row.value("workers", parse_count);
  setup.batch = row.value("batch", parse_count);
  add_settings(setup.settings, row, kOfOptimiser);
  if (setup.dense()) return setup;
  add_settings(setup.settings, row, kOfCompressing);
  setup.density = row.value("density", parse_density);
  const Compressor* known = find_compressor(setup.compressor);
  const bool takes_one = known != nullptr && !known->parameter.name.empty();
  if (takes_one && !row.text("parameter").empty())
    setup.parameter = row.value("parameter", parse_parameter);
  if (!row.text("value_type").empty()) setup.value_type = row.value("value_type", parse_value_type);
  setup.adds_up =
      known != nullptr && ((known->shared_seed && says_yes(row, "shared_seed")) ||
                           (known->levels() != nullptr && says_yes(row, "shared_scale")));
  if (!row.text("mode").empty()) setup.mode = row.value("mode", parse_mode);
  return setup;
}

/// A row has the mean of the iterations since the row before.
void add_sent(TrainingRun& run, const TrainingRow& row) {
  const std::int64_t iteration = row.value("iteration", parse_iterations);
  const double sent = row.value("sent_elements_mean", parse_sent);
  if (iteration <= run.sent_iterations) return;
  const auto before = static_cast<double>(run.sent_iterations);
  const auto until = static_cast<double>(iteration);
  run.sent_elements = (run.sent_elements.value_or(0) * before + sent * (until - before)) / until;
  run.sent_iterations = iteration;
}

/// The trainings of rows, each where its first row stands.
class RunsOfFile {
 public:
  explicit RunsOfFile(std::string file) : file_(std::move(file)) {}

  void add(const TrainingRow& row) {
    TrainingRun& run = run_of(row);
    if (!row.text("parameters").empty()) run.parameters = row.value("parameters", parse_iterations);
    if (!row.text("sent_elements_mean").empty()) add_sent(run, row);
    if (row.text("test_accuracy_percent").empty()) return;  // nothing was tested then
    const TestedAccuracy test{row.value("iteration", parse_iterations),
                              row.value("test_accuracy_percent", parse_accuracy)};
    if (!run.tests.empty() && test.iteration <= run.tests.back().iteration)
      throw row.failure("iteration", std::to_string(test.iteration) + " comes after " +
                                         std::to_string(run.tests.back().iteration) +
                                         "; the evaluations of a training must rise");
    run.tests.push_back(test);
  }

  std::vector<TrainingRun> take() {
    std::erase_if(runs_, [](const TrainingRun& run) { return run.tests.empty(); });
    if (runs_.empty())
      throw DataError(file_, 0, "has no evaluation: a row needs a test_accuracy_percent");
    return std::move(runs_);
  }

 private:
  TrainingRun& run_of(const TrainingRow& row) {
    const std::pair key{setup_of(row), row.value("seed", parse_seed)};
    const auto [known, is_new] = places_.emplace(key, runs_.size());
    if (is_new) {
      runs_.emplace_back();
      runs_.back().file = file_;
      std::tie(runs_.back().setup, runs_.back().seed) = key;
    }
    return runs_[known->second];
  }

  std::string file_;
  std::map<std::pair<TrainingSetup, std::uint32_t>, std::size_t> places_;
  std::vector<TrainingRun> runs_;
};

/// The member of the first object that has it, as text; "" for null and where none has it.
std::string member_text(std::initializer_list<const Json*> objects, const std::string& name) {
  for (const Json* object : objects) {
    if (!object->is_object()) continue;
    const auto found = object->find(name);
    if (found == object->end() || found->is_null()) continue;
    if (found->is_structured()) continue;
    return value_to_text(*found);
  }
  return "";
}

void require_training(const Json& document, const std::string& path) {
  if (!document.is_object()) throw DataError(path, 0, "is no answer of `gradcast train`");
  const auto schema = document.find("schema");
  if (schema != document.end()) {
    const std::string name = member_text({&*schema}, "name");
    if (name != "gradcast/train")
      throw DataError(path, 0, "is an answer '" + name + "', and 'gradcast/train' would be right");
  }
  const auto results = document.find("results");
  if (results == document.end() || !results->is_array())
    throw DataError(path, 0, "lacks 'results', a list with a row for each evaluation");
}

std::vector<TrainingRun> read_json_training(const TextFile& file) {
  const std::string path = file.path.string();
  const Json document = parse_json(file.content, path);
  require_training(document, path);
  const auto found = document.find("summary");
  const Json summary = found == document.end() ? Json() : *found;
  RunsOfFile runs(path);
  std::size_t number = 0;
  for (const Json& item : document.at("results")) {
    ++number;
    TrainingRow row;
    row.failure = [&path, number](const std::string& column, const std::string& what) {
      std::string where = "results row " + std::to_string(number);
      where.append(", '").append(column).append("': ").append(what);
      return DataError(path, 0, where);
    };
    if (!item.is_object()) throw row.failure("results", "is no object");
    for (const char* column : kNeeded)
      row.values[column] = member_text({&item, &summary, &document}, column);
    // A row without a test says so by itself; the summary's words are of the end.
    row.values["iteration"] = member_text({&item}, "iteration");
    row.values["test_accuracy_percent"] = member_text({&item}, "test_accuracy_percent");
    for (const char* column : helpful())
      row.values[column] = member_text({&item, &summary}, column);
    runs.add(row);
  }
  return runs.take();
}

/// The names in the header of a CSV file; the reader checks them again.
std::vector<std::string> header_of(const TextFile& file) {
  for (std::string line : split_words(file.content, '\n')) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty() && line.front() != '#') return split_words(line, ',');
  }
  return {};
}

std::vector<TrainingRun> read_csv_training(const TextFile& file) {
  std::vector<std::string> names(std::begin(kNeeded), std::end(kNeeded));
  const std::size_t needed = names.size();
  for (const char* column : helpful()) names.emplace_back(column);
  const std::size_t known = names.size();
  for (const std::string& name : header_of(file))
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  std::vector<const char*> columns;
  columns.reserve(names.size());
  for (const std::string& name : names) columns.push_back(name.c_str());
  CsvReader csv(file, columns, needed);
  RunsOfFile runs(file.path.string());
  while (csv.next()) {
    TrainingRow row;
    row.failure = [&csv](const std::string& column, const std::string& what) {
      return csv.failure(column, what);
    };
    for (std::size_t i = 0; i < known; ++i) row.values[names[i]] = csv.text(names[i]);
    runs.add(row);
  }
  return runs.take();
}

}  // namespace

std::vector<TrainingRun> read_training(const TextFile& file) {
  const std::size_t first = file.content.find_first_not_of(" \t\r\n");
  const bool json =
      first != std::string::npos && (file.content[first] == '{' || file.content[first] == '[');
  return json ? read_json_training(file) : read_csv_training(file);
}

}  // namespace gradcast
