#include "sim/cli/commands/simulate/counts.hpp"

#include <cmath>

#include "kernels/compressor.hpp"
#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/engine/replicas.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "sim/plan/plan.hpp"

namespace gradcast::commands {
namespace {

/// A compressor that sends exactly k sends it in each iteration.
constexpr double kAsGoodAsExact = 1e-9;

void require_compressor_of(const Request& request, const std::string& file,
                           const SentShare& share) {
  const Compressor* compressor = find_compressor(request.compressor);
  if (compressor == nullptr) return;  // refused where the scenario is made
  if (compressor->family != Family::Sparsifier)
    throw UsageError("--counts is what a compressor sent, and '" + request.compressor +
                     "' selects nothing: name with --compressor the one that was trained");
  if (compressor->exact_count && std::abs(share.mean - 1) > kAsGoodAsExact)
    throw UsageError("--counts: '" + request.compressor + "' sends exactly k, and " + file +
                     " has " + number_to_text(rounded_to(3, share.mean)) +
                     " of it: name with --compressor the one that was trained");
}

std::optional<Seconds> iteration_of(const Scenario& scenario, const Engine& engine,
                                    const NoiseChoice& noise) {
  const IterationResult result =
      run_replicas(scenario, make_plan(scenario), engine, noise.noise, noise.replicas).mean;
  return result.lost.empty() ? std::optional(result.iteration) : std::nullopt;
}

}  // namespace

void add_counts_flag(Flags& flags) {
  flags.add("counts",
            "a .csv file of `gradcast train --counts`: what was really sent takes the place of k");
}

std::optional<CountsUsed> read_counts(const Flags& flags, Request& request, DataFiles& files) {
  if (!flags.given("counts")) return std::nullopt;
  const std::string file = flags.text("counts");
  const SentCounts counts = load_sent_counts(files.read_path(file));
  const SentShare share = flags.value("counts", [&](const std::string&) {
    return sent_share_of(counts,
                         flags.given("density") ? std::optional(request.density) : std::nullopt);
  });
  require_compressor_of(request, file, share);
  const SentShare used = selects_by_parameter(request.compressor) ? share_as_density(share) : share;
  request.density = used.density;
  request.sent_share = used.mean;
  return CountsUsed{file, counts.elements, counts.workers(), used};
}

void forecast_counts(CountsUsed& used, const Scenario& scenario, const Engine& engine,
                     const NoiseChoice& noise) {
  const auto sending = [&](std::optional<double> share) {
    Scenario other = scenario;
    other.sent_share = share;
    return iteration_of(other, engine, noise);
  };
  used.of_k = sending(std::nullopt);
  used.at_p10 = sending(used.share.p10);
  used.at_p90 = sending(used.share.p90);
}

Json counts_settings(const CountsUsed& used) {
  return {{"counts", used.file},
          {"sent_share", used.share.mean},
          {"sent_share_p10", used.share.p10},
          {"sent_share_p90", used.share.p90},
          {"counts_worker_spread", percent_to_text(rounded_to(3, used.share.worker_spread))},
          {"counts_iterations", used.share.iterations},
          {"counts_workers", used.workers},
          {"counts_elements", used.elements}};
}

Json counts_numbers(const CountsUsed& used) {
  const auto seconds = [](const std::optional<Seconds>& time) {
    return time ? Json(time->count()) : Json();
  };
  return {{"unmeasured_counts_seconds", seconds(used.of_k)},
          {"p10_counts_seconds", seconds(used.at_p10)},
          {"p90_counts_seconds", seconds(used.at_p90)}};
}

void note_counts(const Flags& flags, const CountsUsed& used, const Scenario& scenario) {
  const std::string name(scenario.compressor->name);
  if (used.elements != scenario.model->elements())
    flags.note(used.file + " is of a network of " + std::to_string(used.elements) +
               " elements; that " + scenario.model->name + " (" +
               std::to_string(scenario.model->elements()) +
               ") sends the same share of its k is assumed");
  if (static_cast<int>(used.workers) != scenario.cluster.ranks())
    flags.note(used.file + " is of " + std::to_string(used.workers) +
               " workers; that the share is the same with " +
               std::to_string(scenario.cluster.ranks()) + " is assumed");
  if (used.share.left_out > 0)
    flags.note(used.file + ": " + std::to_string(used.share.left_out) +
               " iterations at other densities than " + number_to_text(used.share.density) +
               " (a warm-up?) are left out");
  if (used.share.worker_spread > 0 && scenario.count_spread == 0)
    flags.note("every rank is taken to send the mean; in " + used.file +
               " the workers of an iteration lie " +
               percent_to_text(rounded_to(2, used.share.worker_spread)) +
               " apart: --count-spread draws that");
}

}  // namespace gradcast::commands
