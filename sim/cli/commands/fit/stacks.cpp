#include "sim/cli/commands/fit/stacks.hpp"

#include "sim/answers/answer.hpp"
#include "sim/base/error.hpp"
#include "sim/base/progress.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/commands/fit/save.hpp"
#include "sim/population/judgement.hpp"
#include "sim/population/stack_files.hpp"

namespace gradcast::commands {
namespace {

constexpr const char* kSchema = "fit-stacks";

/// What a fit of one measured file takes. Here the list of groups says what is measured.
void require_own_flags(const Flags& flags) {
  for (const char* flag : {"measured", "structures", "structure", "claimed-only", "starts", "seed",
                           "max-error", "split", "engine", "jobs"})
    if (flags.typed(flag))
      throw UsageError("--" + std::string(flag) +
                       " is not for --stacks, which estimates from all groups of "
                       "traces/stack-groups.csv by the closed form: leave it out");
}

Answer judged(const Flags& flags, const std::vector<SourceGroup>& groups,
              const StackPriors& priors) {
  if (flags.text("leave-one-out") != "source")
    throw UsageError(
        "--stacks leaves out one group of sources at a time: write --leave-one-out source");
  Progress progress(std::vector<double>(groups.size(), 1), flags.quiet());
  const Judgement judgement = judge_groups(groups, priors, [&](std::size_t done, std::size_t) {
    progress.show(done, "estimating without each group");
  });
  return {judgement_table(judgement),
          judgement_rows(judgement),
          judgement_summary(judgement),
          1,
          Json(),
          kSchema};
}

Answer estimated(const std::vector<FittedFile>& made) {
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
  answer.seed = 1;
  answer.schema = kSchema;
  return answer;
}

}  // namespace

int fit_stacks(const Flags& flags, DataFiles& files) {
  require_own_flags(flags);
  const StackPriors priors = load_stack_priors(files);
  const std::vector<SourceGroup> groups = load_source_groups(files);
  if (flags.given("leave-one-out")) {
    deliver(flags, files.inputs(), "analytic", judged(flags, groups, priors));
    return 0;
  }
  std::vector<const SourceGroup*> all;
  for (const SourceGroup& group : groups) all.push_back(&group);
  const std::vector<FittedFile> made = stack_files(
      fit_population(all, priors, 1), groups, load_usual_schedules(files), load_known_terms(files));
  deliver(flags, files.inputs(), "analytic", estimated(made));
  if (flags.given("save")) save_files(flags, made);
  return 0;
}

}  // namespace gradcast::commands
