// `gradcast theory`: how much of u's square Top-k leaves, beside the bounds that theory has for it.
// sim/theory/ works it out.
#include "sim/answers/answer.hpp"
#include "sim/base/error.hpp"
#include "sim/base/lists.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/options/flags.hpp"
#include "sim/theory/law.hpp"
#include "sim/theory/report.hpp"

namespace gradcast::commands {
namespace {

Flags theory_flags() {
  Flags flags(
      "theory",
      "Says how much of u's square Top-k leaves: R = |u - Topk(u)|^2 / |u|^2, exactly, beside\n"
      "the bounds 1 - q, (1 - q)^2 (Theorem 1 of Understanding Top-k Sparsification) and\n"
      "(1 - q)^3, with q = k/d. Of a distribution, R is that of infinitely many elements, by\n"
      "quadrature, and beside it that of --elements drawn ones; of a .npy file, that of its\n"
      "vector. Theorem 2's figures are orders of iterations, not counts.",
      {"theory --distribution normal --density 0.0001..0.01",
       "theory --distribution normal:8,1,clipped-normal:1,u.npy --density 0.001,0.01",
       "theory --counter-examples", "theory --distribution normal --curve --format csv"});
  flags.add("distribution",
            "a list; a number belongs to the name before it, as in normal:8,1,signs: " +
                join(law_forms()) + "; or a .npy file with a vector of float32 or float64",
            "normal");
  flags.add("density", "a list of densities k/d, or a range 0.0001..0.01 in steps 1, 2, 5",
            "0.001");
  flags.add("elements", "elements that are drawn of a distribution", "100000");
  flags.add("seed", "seed of the drawn elements", "1");
  flags.add_switch(
      "curve", "instead, the curves of the paper's Fig. 3 and Fig. 5: 200 rows from k = 0 to d");
  flags.add_switch("counter-examples",
                   "instead, where Theorem 1 is false as printed, why, and what is true");
  return flags;
}

int parse_elements(std::string_view text) {
  constexpr int kMostDrawn = 100'000'000;  // they take 400 MB
  return parse_count_to(kMostDrawn, text);
}

void refuse_beside(const Flags& flags, const char* one, const char* other, const char* why) {
  if (flags.given(one) && flags.typed(other))
    throw UsageError("--" + std::string(other) + " does not go with --" + one + ": " + why);
}

std::vector<Subject> subjects_of(const Flags& flags) {
  return flags.value("distribution", [](const std::string& text) {
    std::vector<Subject> subjects;
    for (const std::string& word : subject_words(text)) subjects.push_back(read_subject(word));
    return subjects;
  });
}

void add_verdicts(Answer& answer, const std::vector<BoundVerdict>& verdicts,
                  std::vector<std::string> sentences) {
  for (const BoundVerdict& verdict : verdicts) {
    for (Json& row : verdict_rows(verdict)) answer.rows.push_back(std::move(row));
    for (std::string& sentence : verdict_sentences(verdict))
      sentences.push_back(std::move(sentence));
  }
  for (const std::string& sentence : sentences) answer.table += sentence + "\n";
  answer.table += "\n" + verdict_table(verdicts);
  answer.summary["sentences"] = sentences;
}

}  // namespace

int theory(int argc, const char* const* argv) {
  Flags flags = theory_flags();
  if (!flags.parse(argc, argv)) return 0;
  refuse_beside(flags, "counter-examples", "distribution", "it has its own");
  refuse_beside(flags, "counter-examples", "density", "it has its own");
  refuse_beside(flags, "counter-examples", "curve", "these are two answers");
  refuse_beside(flags, "curve", "density", "it has its own from 0 to 1");
  const std::vector<double> densities = flags.value("density", parse_densities);
  const Drawing drawing{flags.value("elements", parse_elements), flags.value("seed", parse_seed)};

  Answer answer;
  answer.seed = drawing.seed;
  std::vector<InputFile> inputs;
  if (flags.given("counter-examples")) {
    add_verdicts(answer, counter_examples(drawing), counter_example_sentences());
    deliver(flags, inputs, "", answer);
    return 0;
  }
  std::vector<Subject> subjects = subjects_of(flags);
  for (const Subject& subject : subjects)
    if (!subject.law) inputs.push_back(subject.input);
  if (inputs.size() == subjects.size()) answer.seed = Json();  // nothing is drawn
  std::vector<BoundVerdict> verdicts;
  for (Subject& subject : subjects) {
    if (flags.given("curve")) {
      for (Json& row : curve_rows(std::move(subject), drawing))
        answer.rows.push_back(std::move(row));
      continue;
    }
    verdicts.push_back(judge(std::move(subject), densities, drawing));
  }
  if (flags.given("curve")) {
    answer.schema = "theory-curve";
    answer.table = curve_table(answer.rows);
  } else {
    add_verdicts(answer, verdicts, {});
  }
  deliver(flags, inputs, "", answer);
  return 0;
}

}  // namespace gradcast::commands
