#include "sim/inputs/sent_counts.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "sim/base/csv.hpp"
#include "sim/base/statistics.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"

namespace gradcast {
namespace {

constexpr const char* kCountColumns[] = {"iteration", "worker", "elements",
                                         "density",   "wanted", "sent"};

/// Most elements of a network. Numbers up to it are exact as doubles too.
constexpr std::int64_t kMostElements = std::int64_t{1} << 53;

struct OfOneIteration {
  double density = 0;
  std::int64_t wanted = 0;
  std::map<std::int64_t, std::int64_t> sent;  // by worker
};

bool same_density_asked(double a, double b) { return std::abs(a - b) <= 1e-9 * b; }

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Standard deviation over mean; nothing where nothing was sent.
std::optional<double> spread_of(const IterationCounts& one) {
  const std::vector<double> sent(one.sent.begin(), one.sent.end());
  const double mean = mean_of(sent);
  if (mean <= 0) return std::nullopt;
  double squares = 0;
  for (const double each : sent) squares += (each - mean) * (each - mean);
  return std::sqrt(squares / static_cast<double>(sent.size())) / mean;
}

void read_row(const CsvReader& csv, std::int64_t& elements,
              std::map<std::int64_t, OfOneIteration>& all) {
  const std::int64_t iteration = csv.integer("iteration", 1, INT32_MAX);
  const std::int64_t worker = csv.integer("worker", 1, INT32_MAX);
  const std::int64_t its_elements = csv.integer("elements", 1, kMostElements);
  if (elements == 0) elements = its_elements;
  if (its_elements != elements)
    throw csv.failure("elements", std::to_string(its_elements) + " differs from " +
                                      std::to_string(elements) +
                                      " of the rows before: a file is of one network");
  const double density = csv.value("density", parse_density);
  const std::int64_t wanted = csv.integer("wanted", 1, elements);
  const auto [at, first] = all.try_emplace(iteration);
  OfOneIteration& one = at->second;
  if (first) {
    one.density = density;
    one.wanted = wanted;
  }
  if (one.density != density)
    throw csv.failure("density", number_to_text(density) + " differs from " +
                                     number_to_text(one.density) + " of the same iteration");
  if (one.wanted != wanted)
    throw csv.failure("wanted", std::to_string(wanted) + " differs from " +
                                    std::to_string(one.wanted) + " of the same iteration");
  if (!one.sent.emplace(worker, csv.integer("sent", 0, elements)).second)
    throw csv.failure("worker", std::to_string(worker) + " stands twice in iteration " +
                                    std::to_string(iteration));
}

}  // namespace

SentCounts load_sent_counts(const TextFile& file) {
  require_whole_lines(file);
  SentCounts counts;
  std::map<std::int64_t, OfOneIteration> all;
  CsvReader csv(file, kCountColumns);
  while (csv.next()) read_row(csv, counts.elements, all);
  if (all.empty()) throw csv.failure("there are no counts, only a header");
  const std::size_t workers = all.begin()->second.sent.size();
  for (const auto& [iteration, one] : all) {
    if (one.sent.size() != workers)
      throw DataError(csv.path(), 0,
                      "iteration " + std::to_string(iteration) + " has " +
                          std::to_string(one.sent.size()) + " workers, and iteration " +
                          std::to_string(all.begin()->first) + " has " + std::to_string(workers) +
                          ": each must have all of them");
    counts.iterations.push_back({iteration, one.density, one.wanted, {}});
    for (const auto& [worker, sent] : one.sent) counts.iterations.back().sent.push_back(sent);
  }
  return counts;
}

SentShare sent_share_of(const SentCounts& counts, std::optional<double> density) {
  SentShare share;
  share.density = density.value_or(counts.iterations.back().density);
  std::vector<double> means;
  std::vector<double> spreads;
  std::set<double> known;
  for (const IterationCounts& one : counts.iterations) {
    known.insert(one.density);
    if (!same_density_asked(one.density, share.density)) {
      ++share.left_out;
      continue;
    }
    const std::vector<double> sent(one.sent.begin(), one.sent.end());
    means.push_back(mean_of(sent) / static_cast<double>(one.wanted));
    if (const auto spread = spread_of(one)) spreads.push_back(*spread);
  }
  if (means.empty()) {
    std::vector<std::string> words;
    for (const double each : known) words.push_back(number_to_text(each));
    throw ValueError("the counts are of density " + join(words, ", ") + ", not of " +
                     number_to_text(share.density) + "; leave --density out, or ask for that");
  }
  share.iterations = means.size();
  share.mean = mean_of(means);
  std::sort(means.begin(), means.end());
  share.p10 = nearest_rank(means, 0.1);
  share.p90 = nearest_rank(means, 0.9);
  share.worker_spread = spreads.empty() ? 0 : mean_of(spreads);
  return share;
}

SentShare share_as_density(SentShare share) {
  // If nothing passes a threshold, the density is near 0, not 0: an encode is planned to send
  // something.
  constexpr double kHardlyAnything = 1e-9;
  const double mean = std::max(share.mean, kHardlyAnything);
  share.density *= mean;
  share.p10 /= mean;
  share.p90 /= mean;
  share.mean = 1;
  return share;
}

}  // namespace gradcast
