#include "sim/cli/commands/fit/stacks.hpp"

#include <numeric>

#include "sim/answers/answer.hpp"
#include "sim/base/error.hpp"
#include "sim/base/progress.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/base/thread_pool.hpp"
#include "sim/cli/commands/fit/save.hpp"
#include "sim/population/judgement.hpp"
#include "sim/population/stack_files.hpp"

namespace gradcast::commands {
namespace {

constexpr const char* kSchema = "fit-stacks";
constexpr const char* kWithoutEach = "estimating without each group";

/// Rejects flags for a fit of one measured file. With --stacks, the list of groups names the
/// measured files.
void require_own_flags(const Flags& flags) {
  for (const char* flag : {"measured", "structures", "structure", "claimed-only", "starts",
                           "max-error", "split", "engine"})
    if (flags.typed(flag))
      throw UsageError("--" + std::string(flag) +
                       " is not for --stacks, which estimates from all groups of "
                       "traces/stack-groups.csv by the closed form: leave it out");
}

Answer judged(const Flags& flags, const std::vector<SourceGroup>& groups, const StackPriors& priors,
              const std::vector<KnownTerm>& known, std::uint64_t seed) {
  if (flags.text("leave-one-out") != "source")
    throw UsageError(
        "--stacks leaves out one group of sources at a time: write --leave-one-out source");
  Progress progress(std::vector<double>(groups.size(), 1), flags.quiet());
  const Judgement judgement =
      judge_groups(groups, priors, known, seed, chosen_jobs(flags),
                   [&](std::size_t done) { progress.show(done, kWithoutEach); });
  return {judgement_table(judgement),
          judgement_rows(judgement),
          judgement_summary(judgement),
          seed,
          Json(),
          kSchema};
}

/// The stacks, and for each group the one that forecasts it without having seen it.
std::vector<FittedFile> with_those_without_each(std::vector<FittedFile> made, const Flags& flags,
                                                const std::vector<SourceGroup>& groups,
                                                const StackPriors& priors,
                                                const UsualSchedules& schedules,
                                                const std::vector<KnownTerm>& known,
                                                std::uint64_t seed) {
  Progress progress(std::vector<double>(groups.size(), 1), flags.quiet());
  std::vector<std::size_t> places(groups.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  const std::size_t first = made.size();
  made.resize(first + groups.size());
  std::size_t done = 0;
  PoolWork pool;
  pool.work = [&](std::size_t g) {
    const std::vector<const SourceGroup*> others = all_but(groups, g);
    made[first + g] =
        file_without(fit_population(others, priors, seed), others, groups[g], schedules, known);
    return std::string();
  };
  pool.done = [&](std::size_t, const std::string&) { progress.show(++done, kWithoutEach); };
  run_in_threads(chosen_jobs(flags), places, pool);
  return made;
}

Answer estimated(const std::vector<FittedFile>& made, std::uint64_t seed) {
  Answer answer;
  TextTable table;
  table.header = {"stack", "property", "value", "deviation", "from", "seen"};
  for (const FittedFile& file : made) {
    const Stack stack = load_stack({file.path, file.content});
    for (const StackTerm& term : stack.terms) {
      const std::vector<std::string> cells{stack.name,
                                           term.name(),
                                           term.quantity->text(term.value, 3),
                                           percent_to_text(rounded_to(2, term.deviation)),
                                           term.source,
                                           to_text(term.seen)};
      table.rows.push_back(cells);
      answer.rows.push_back({{"stack", cells[0]},
                             {"property", cells[1]},
                             {"value", cells[2]},
                             {"deviation", term.deviation},
                             {"source", cells[4]},
                             {"seen", cells[5]}});
    }
    answer.rows.push_back({{"stack", stack.name},
                           {"property", "discrepancy"},
                           {"value", percent_to_text(rounded_to(2, stack.discrepancy))},
                           {"deviation", nullptr},
                           {"source", ""},
                           {"seen", ""}});
  }
  answer.table = to_text(table);
  answer.seed = seed;
  answer.schema = kSchema;
  return answer;
}

}  // namespace

int fit_stacks(const Flags& flags, DataFiles& files) {
  require_own_flags(flags);
  const StackPriors priors = load_stack_priors(files);
  const std::vector<SourceGroup> groups = load_source_groups(files);
  const std::vector<KnownTerm> known = load_known_terms(files);
  const auto seed = flags.value("seed", parse_seed);
  if (flags.given("leave-one-out")) {
    deliver(flags, files.inputs(), "analytic", judged(flags, groups, priors, known, seed));
    return 0;
  }
  const UsualSchedules schedules = load_usual_schedules(files);
  std::vector<const SourceGroup*> all;
  for (const SourceGroup& group : groups) all.push_back(&group);
  const std::vector<FittedFile> made =
      stack_files(fit_population(all, priors, seed), groups, schedules, known);
  deliver(flags, files.inputs(), "analytic", estimated(made, seed));
  if (flags.given("save"))
    save_files(flags, with_those_without_each(made, flags, groups, priors, schedules, known, seed));
  return 0;
}

}  // namespace gradcast::commands
