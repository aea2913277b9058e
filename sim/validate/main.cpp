// Measures how good the forecasts are, on every published run that may be fitted. Each run is
// forecast by a fit that has not seen it. Writes a table of docs/accuracy.md and
// traces/validation.csv. Runs of today's software, which no fit needs, make the tables of
// docs/accuracy.md and traces/validation-today.csv (today.hpp), and the widths of
// platforms/stack-nccl*.csv (widths.hpp). Runs of the groups from which stacks are estimated, each
// forecast without its group, make another table and traces/validation-stacks.csv (stacks.hpp).
// README.md says each in one line.
// `--three-runs` does another thing: published sources learn from three of their runs, for a table
// and a picture of docs/ and traces/validation-learned.csv (learned.hpp).
// `--curves` prints what a cluster learns from logs of nccl-tests (curves.hpp).
// `--check` fails if an error, or an interval's score, has grown by more than a tenth since those
// were written. It uses the closed form, so that every build gives the same result.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/base/csv.hpp"
#include "sim/base/error.hpp"
#include "sim/base/interruption.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/compare/groups.hpp"
#include "sim/fit/study.hpp"
#include "sim/validate/curves.hpp"
#include "sim/validate/learned.hpp"
#include "sim/validate/stacks.hpp"
#include "sim/validate/today.hpp"
#include "sim/validate/widths.hpp"
#include "sim/validate/written.hpp"

namespace {

using namespace gradcast;

struct Subject {
  const char* measured;
  LeaveOut left_out;
  const char* what;
};

constexpr Subject kSubjects[] = {
    {"measured-shi2019-table2", LeaveOut::Model, "dense, Top-k, DGC, Gaussian-k; 16 V100, 10GbE"},
    {"measured-mg-wfbp-dense", LeaveOut::Model,
     "dense, fused in three ways; 16 V100, 10GbE and IB"},
    {"measured-gtopk-1gbe", LeaveOut::Model, "dense, Top-k, gTop-k; 4 to 32 P102-100, 1GbE"},
    {"measured-contention-10gbe", LeaveOut::Row, "MPI all-reduces of 1 to 8 jobs, 10GbE"},
    {"measured-osu-allreduce-10gbe", LeaveOut::Row, "MPI all-reduces of 1 KiB to 1 MiB, 10GbE"},
};

constexpr const char* kBegin = "<!-- validation: made by scripts/validate -->";
constexpr const char* kEnd = "<!-- end of validation -->";
constexpr std::array kColumns = {"measured",
                                 "left_out",
                                 "rows",
                                 "unfitted_mean_absolute_percent",
                                 "mean_absolute_percent",
                                 "median_absolute_percent",
                                 "p90_absolute_percent",
                                 "worst_percent",
                                 "bias_percent",
                                 "rows_inside_interval",
                                 "median_interval_width_percent",
                                 "structure"};

struct Validated {
  Subject subject;
  std::string structure;
  double unfitted = 0;
  ErrorSummary errors;
  Coverage intervals;
};

Validated validate(const Subject& subject, DataFiles& files, std::vector<ComparedRun>& all) {
  const MeasuredRuns measured = load_measured_runs(files.read(kMeasuredRuns, subject.measured));
  const std::vector<FitRow> rows = fit_rows_of(measured, files);
  const FitStructures structures = for_runs(
      load_fit_structures(files.read(kFitStructures, structures_for(subject.measured, files))),
      measured.runs);
  StudyOptions options;
  options.engine = options.search.engine = find_engine("analytic");
  options.left_out = subject.left_out;
  options.nested = false;
  options.search.random_starts = 0;
  const FitStructure& claimed = structures.find("");
  const FitStudy study = study_of(subject.measured, rows, structures, claimed, options);
  all.insert(all.end(), study.rows.begin(), study.rows.end());
  return {subject, claimed.name, study.unfitted.mean, summary_of(study.rows).value(),
          coverage_of(study.rows).value()};
}

std::string as_csv(const std::vector<Validated>& all) {
  std::string text =
      csv_comments({"What gradcast's forecasts are off by, in percent, on published runs that the "
                    "fit had not seen.",
                    "Made by scripts/validate; scripts/test fails where an error has grown by more "
                    "than a tenth."});
  text += csv_line({kColumns.begin(), kColumns.end()});
  for (const Validated& each : all)
    text += csv_line({each.subject.measured, to_text(each.subject.left_out),
                      std::to_string(each.errors.rows), fixed(each.unfitted, 2),
                      fixed(each.errors.mean_absolute, 2), fixed(each.errors.median_absolute, 2),
                      fixed(each.errors.p90_absolute, 2), fixed(each.errors.worst, 2),
                      fixed(each.errors.bias, 2), std::to_string(each.intervals.inside),
                      fixed(each.intervals.median_width_percent, 2), each.structure});
  return text;
}

std::string as_markdown(const std::vector<Validated>& all, const std::vector<ComparedRun>& rows) {
  std::string text =
      std::string(kBegin) +
      "\n| measured | what | rows | files as they are | fitted on others: mean | median | "
      "90th | worst | inside 90 % | width |\n"
      "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const Validated& each : all)
    text += "| `" + std::string(each.subject.measured) + "` | " + each.subject.what + " | " +
            std::to_string(each.errors.rows) + " | " + fixed(each.unfitted, 1) + " % | " +
            fixed(each.errors.mean_absolute, 1) + " % | " + fixed(each.errors.median_absolute, 1) +
            " % | " + fixed(each.errors.p90_absolute, 1) + " % | " +
            with_sign(each.errors.worst, 1) + " % | " + std::to_string(each.intervals.inside) +
            " | " + fixed(each.intervals.median_width_percent, 0) + " % |\n";
  const Coverage intervals = coverage_of(rows).value();
  return text + "| all | | " + std::to_string(intervals.rows) + " | | " +
         fixed(summary_of(rows).value().mean_absolute, 1) + " % | | | | " +
         std::to_string(intervals.inside) + " (" + fixed(intervals.percent(), 0) + " %) | " +
         fixed(intervals.median_width_percent, 0) + " % |\n" + kEnd;
}

/// The errors that have grown, one per line; "" for none.
std::string complaints(const std::vector<Validated>& now, const TextFile& file) {
  std::vector<ErrorsNow> errors;
  for (const Validated& each : now)
    errors.push_back({each.subject.measured,
                      {{"mean_absolute_percent", each.errors.mean_absolute},
                       {"median_absolute_percent", each.errors.median_absolute},
                       {"p90_absolute_percent", each.errors.p90_absolute},
                       {"worst_percent", each.errors.worst}}});
  CsvReader before(file, kColumns);
  return grown_errors(errors, before, "measured", "traces/validation.csv");
}

constexpr const char* kNumbersBegin = "<!-- numbers: made by scripts/validate -->\n";
constexpr const char* kNumbersEnd = "<!-- end of numbers -->";

/// README.md with a line for home and one for abroad.
std::string in_readme(const std::string& readme, const std::vector<ComparedRun>& rows,
                      const std::vector<StackSource>& sources) {
  const Coverage intervals = coverage_of(rows).value();
  const std::string home =
      "- **At home**, on clusters whose software was fitted to other runs there: off by " +
      fixed(summary_of(rows).value().mean_absolute, 1) + " % in the mean over " +
      std::to_string(intervals.rows) + " published runs. " + fixed(intervals.percent(), 0) +
      " % lie inside\n  their 90 % interval.\n";
  return with_table(readme, "README.md",
                    kNumbersBegin + home + stacks_in_words(sources) + kNumbersEnd, kNumbersBegin,
                    kNumbersEnd);
}

/// docs/accuracy.md with the tables of fits, of stacks and of today's software.
std::string in_accuracy(const std::string& page, const std::string& fits, const std::string& stacks,
                        const Today& today) {
  const auto put = [](const std::string& text, const std::string& table, std::string_view first,
                      std::string_view last) {
    return with_table(text, "docs/accuracy.md", table, std::string(first), std::string(last));
  };
  const std::string with_today =
      put(put(page, collectives_as_markdown(today), kCollectivesBegin, kCollectivesEnd),
          trainings_as_markdown(today), kTrainingsBegin, kTrainingsEnd);
  return put(put(with_today, fits, kBegin, kEnd), stacks, kStacksBegin, kStacksEnd);
}

/// Three runs of one's own. Returns the exit code.
int validate_learned(const std::filesystem::path& root, bool check, DataFiles& files) {
  const std::filesystem::path csv = root / "traces" / "validation-learned.csv";
  const std::filesystem::path svg = root / "docs" / "three-runs.svg";
  const std::filesystem::path page = root / "docs" / "accuracy.md";
  const std::vector<LearnedSource> sources = learn_from_three(files);
  const std::string table = learned_as_markdown(sources);
  std::printf("%s\n", table.c_str());
  const std::string shown = read_text_file(page).content;
  const std::string wanted = with_table(shown, "docs/accuracy.md", table,
                                        std::string(kLearnedBegin), std::string(kLearnedEnd));
  const std::filesystem::path readme = root / "README.md";
  const std::string readme_shown = read_text_file(readme).content;
  const std::string readme_wanted =
      with_table(readme_shown, "README.md", learned_in_words(sources), std::string(kLearnedBegin),
                 std::string(kLearnedEnd));
  if (!check) {
    write_text_file(readme, readme_wanted);
    write_text_file(csv, learned_as_csv(sources));
    write_text_file(svg, learned_as_svg(sources));
    write_text_file(page, wanted);
    return 0;
  }
  std::string text = learned_complaints(sources, read_text_file(csv));
  if (shown != wanted || readme_shown != readme_wanted ||
      read_text_file(svg).content != learned_as_svg(sources))
    text +=
        "README.md or docs has another table or picture of three runs: scripts/validate writes "
        "them\n";
  std::fprintf(stderr, "%s", text.c_str());
  return text.empty() ? 0 : 4;
}

/// Prints what clusters learn from logs; with `check`, whether docs/accuracy.md has it.
int validate_curves(const std::filesystem::path& root, bool check, DataFiles& files) {
  const std::string text = curves_as_markdown(files);
  if (!check) {
    std::printf("%s", text.c_str());
    return 0;
  }
  const std::string page = read_text_file(root / "docs" / "accuracy.md").content;
  for (const std::string& line : split_words(text, '\n'))
    if (page.find(line) == std::string::npos) {
      std::fprintf(stderr, "docs/accuracy.md lacks this line of --curves: %s\n", line.c_str());
      return 4;
    }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto has = [&](const char* flag) {
    return std::find(arguments.begin(), arguments.end(), flag) != arguments.end();
  };
  const bool check = has("--check");
  const bool learned = has("--three-runs");
  const bool curves = has("--curves");
  if (arguments.size() != 1u + (check ? 1 : 0) + (learned ? 1 : 0) + (curves ? 1 : 0) ||
      (curves && learned)) {
    std::fprintf(stderr,
                 "usage: validate_forecasts [--check] [--three-runs] FOLDER-WITH-README\n"
                 "       validate_forecasts [--check] --curves FOLDER-WITH-README\n");
    return 2;
  }
  end_when_interrupted("validate_forecasts:");
  try {
    const std::filesystem::path root = arguments.back();
    DataFiles files(root);
    if (curves) return validate_curves(root, check, files);
    if (learned) return validate_learned(root, check, files);
    std::vector<ComparedRun> rows;
    std::vector<Validated> all;
    for (const Subject& subject : kSubjects) {
      std::fprintf(stderr, "validating %s\n", subject.measured);
      all.push_back(validate(subject, files, rows));
    }
    const std::string table = as_markdown(all, rows);
    const std::filesystem::path csv = root / "traces" / "validation.csv";
    const std::filesystem::path readme = root / "README.md";
    std::printf("%s\n", table.c_str());
    std::fprintf(stderr, "validating collectives and trainings by NCCL\n");
    const Today today = forecast_today(files);
    const std::filesystem::path accuracy = root / "docs" / "accuracy.md";
    const std::filesystem::path today_csv = root / "traces" / "validation-today.csv";
    std::fprintf(stderr, "validating stacks, without each group\n");
    const std::vector<StackSource> sources = forecast_stacks(files);
    const std::string stacks = stacks_as_markdown(sources);
    const std::filesystem::path stacks_csv = root / "traces" / "validation-stacks.csv";
    std::printf("%s\n%s\n", collectives_as_markdown(today).c_str(),
                trainings_as_markdown(today).c_str());
    std::printf("%s\n", stacks.c_str());
    if (!check) {
      write_text_file(csv, as_csv(all));
      write_text_file(stacks_csv, stacks_as_csv(sources));
      write_text_file(readme, in_readme(read_text_file(readme).content, rows, sources));
      write_text_file(today_csv, today_as_csv(today));
      write_text_file(root / "traces" / "validation-collectives.csv", beyond_as_csv(today));
      write_text_file(accuracy,
                      in_accuracy(read_text_file(accuracy).content, table, stacks, today));
      for (const WidthsFile& file : widths_files(today))
        write_text_file(root / "platforms" / file.name, file.text);
      return 0;
    }
    std::string text = complaints(all, read_text_file(csv));
    const std::string shown = read_text_file(readme).content;
    if (in_readme(shown, rows, sources) != shown)
      text += "README.md has other numbers than these: scripts/validate writes them\n";
    text += stacks_complaints(sources, read_text_file(stacks_csv));
    text += today_complaints(today, read_text_file(today_csv));
    const std::string page = read_text_file(accuracy).content;
    if (in_accuracy(page, table, stacks, today) != page)
      text += "docs/accuracy.md has other tables than these: scripts/validate writes them\n";
    for (const WidthsFile& file : widths_files(today))
      if (read_text_file(root / "platforms" / file.name).content != file.text)
        text += "platforms/" + file.name + " has other widths: scripts/validate writes them\n";
    std::fprintf(stderr, "%s", text.c_str());
    return text.empty() ? 0 : 4;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "validate_forecasts: %s\n", error.what());
    return 1;
  }
}
