#include "sim/inputs/published_accuracy.hpp"

#include <cmath>

#include "kernels/compressor.hpp"
#include "sim/base/csv.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

constexpr const char* kAccuracyColumns[] = {"model",          "dataset",         "compressor",
                                            "density",        "workers",         "optimizer",
                                            "error_feedback", "accuracy_percent"};

bool same_density(double a, double b) { return std::abs(a - b) <= 1e-9 * b; }

}  // namespace

PublishedAccuracies load_published_accuracies(const TextFile& file) {
  PublishedAccuracies published{comment_value(file, "source"), {}};
  CsvReader csv(file, kAccuracyColumns);
  while (csv.next()) {
    PublishedAccuracy row;
    row.model = csv.word("model");
    row.dataset = csv.text("dataset");
    row.compressor = csv.word("compressor");
    row.density = csv.value("density", parse_density);
    row.workers = csv.value("workers", parse_count);
    row.optimizer = csv.text("optimizer");
    if (!csv.text("error_feedback").empty())
      row.error_feedback = csv.value("error_feedback", parse_yes_no);
    row.percent = csv.number("accuracy_percent", 0, 100);
    published.rows.push_back(row);
  }
  return published;
}

std::optional<AccuracyGap> published_gap(const PublishedAccuracies& published,
                                         const std::string& model, const std::string& compressor,
                                         double density) {
  const Compressor* known = find_compressor(compressor);
  if (known == nullptr) return std::nullopt;
  const double sent = known->family == Family::Sparsifier ? density : 1;
  for (const PublishedAccuracy& row : published.rows) {
    if (row.model != model || row.compressor != compressor ||
        row.error_feedback != known->feedback || !same_density(row.density, sent))
      continue;
    for (const PublishedAccuracy& dense : published.rows)
      if (dense.compressor == "dense" && dense.model == model && dense.dataset == row.dataset &&
          dense.workers == row.workers && dense.optimizer == row.optimizer)
        return AccuracyGap{row.percent, dense.percent, row.workers};
  }
  return std::nullopt;
}

}  // namespace gradcast
