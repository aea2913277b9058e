#include "sim/report/headline.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/forecast/verdict.hpp"
#include "sim/report/figures.hpp"
#include "sim/report/points.hpp"
#include "sim/report/question.hpp"
#include "sim/report/trainings.hpp"

namespace gradcast {
namespace {

constexpr std::size_t kMostSentences = 40;
constexpr Pays kVerdicts[] = {Pays::Yes, Pays::No, Pays::CannotBeTold};

void add_said(Headline& headline, const ResultFile& result) {
  const auto summary = result.document.find("summary");
  if (summary != result.document.end() && summary->is_object()) {
    const auto sentences = summary->find("sentences");
    if (sentences != summary->end() && sentences->is_array())
      for (const Json& sentence : *sentences)
        if (sentence.is_string()) headline.sentences.push_back(sentence.get<std::string>());
  }
}

bool says_verdict(const std::string& sentence) {
  return std::any_of(std::begin(kVerdicts), std::end(kVerdicts),
                     [&](Pays pays) { return sentence.find(to_text(pays)) != std::string::npos; });
}

/// The verdicts come before their reasons, which may be many.
void add_breakeven(Headline& headline, const ResultFile& result) {
  add_said(headline, result);
  auto& sentences = headline.sentences;
  const auto reasons = std::stable_partition(sentences.begin(), sentences.end(), says_verdict);
  if (reasons != sentences.begin()) {
    headline.reasons.assign(reasons, sentences.end());
    sentences.erase(reasons, sentences.end());
  }
  if (result.rows.empty()) return;                // a map alone
  std::map<std::vector<std::string>, bool> pays;  // of each question: somewhere, surely
  for (const Json& row : result.rows)
    pays[{text_of(row, "model"), text_of(row, "compressor"), text_of(row, "over")}] =
        !text_of(row, "surely_pays").empty();
  const auto paying =
      std::count_if(pays.begin(), pays.end(), [](const auto& question) { return question.second; });
  headline.numbers.push_back({std::to_string(paying) + " of " + std::to_string(pays.size()),
                              "questions where compression surely pays somewhere in the range"});
}

/// Speed is not all that a buyer should weigh.
constexpr const char* kOnlyTime =
    "Compared is the time of an iteration: how many more of them a compressor may need is not "
    "forecast. `gradcast tta` takes them from trainings.";

/// The compressor that a reader should hear of first, for a model at a bandwidth: one that surely
/// pays, else one that cannot be told, else any. The fastest comes before its like.
struct Best {
  const AnsweredPoint* point = nullptr;
  double speedup = 0;  // over dense

  Pays pays() const { return point->verdict.value_or(Pays::CannotBeTold); }
  bool before(const Best& other) const {
    if (other.point == nullptr) return true;
    const auto rank = [](Pays pays) { return pays == Pays::Yes ? 2 : pays == Pays::No ? 0 : 1; };
    return std::pair(rank(pays()), speedup) > std::pair(rank(other.pays()), other.speedup);
  }
};

std::string at_bandwidth(const AnsweredPoint& point) {
  return point.bandwidth.empty() ? "" : " at " + point.bandwidth;
}

/// "1.47x, 90 %: 1.20x to 1.80x"
std::string margin_words(const Best& best) {
  const AnsweredPoint& point = *best.point;
  std::string words = times_text(best.speedup) + " the speed of " + point.opponent();
  if (point.speedup_low && point.speedup_high)
    words += ", 90 %: " + times_text(*point.speedup_low) + " to " + times_text(*point.speedup_high);
  return words;
}

/// "at 10Gbps, 25Gbps and 100Gbps"; "" without bandwidths.
std::string at_bandwidths(const std::vector<Best>& best) {
  std::vector<std::string> names;
  for (const Best& one : best)
    if (!one.point->bandwidth.empty()) names.push_back(one.point->bandwidth);
  return names.empty() ? "" : " at " + and_joined(names);
}

/// "On 256 workers vgg-16: randk surely pays at 10Gbps (1.47x ...); compression surely does not pay
/// at 100Gbps (at best ...); it cannot be told at 25Gbps (at best ...): measure ..." `best` are
/// those of one model, by bandwidth.
std::string verdict_sentence(const std::vector<Best>& best, double workers) {
  std::map<Pays, std::vector<Best>> by_verdict;
  for (const Best& one : best) by_verdict[one.pays()].push_back(one);
  std::vector<std::string> parts;
  for (const Best& one : by_verdict[Pays::Yes])
    parts.push_back(one.point->compressor + " " + to_text(Pays::Yes) + at_bandwidth(*one.point) +
                    " (" + margin_words(one) + ")");
  for (const auto& [pays, subject] :
       {std::pair{Pays::No, "compression "}, {Pays::CannotBeTold, "it "}}) {
    const std::vector<Best>& those = by_verdict[pays];
    if (those.empty()) continue;
    const Best& most = *std::max_element(
        those.begin(), those.end(),
        [](const Best& one, const Best& other) { return one.speedup < other.speedup; });
    parts.push_back(subject + to_text(pays) + at_bandwidths(those) + " (at best " +
                    most.point->compressor + ", " + margin_words(most) + ")");
    if (pays == Pays::CannotBeTold && !most.point->measure.empty())
      parts.back() += ": measure " + most.point->measure;
  }
  return "On " + count_text(workers) + " workers " + best.front().point->model + ": " +
         join(parts, "; ") + ".";
}

/// The names of the fastest in each setting, dense included, by one of the two estimates.
std::map<std::string, std::string> winners_by(const std::vector<AnsweredPoint>& points,
                                              Estimate AnsweredPoint::*estimate) {
  std::map<std::string, std::pair<double, std::string>> fastest;
  for (const AnsweredPoint& point : points) {
    if (!(point.*estimate).seconds || !(point.*estimate).speedup) continue;
    const std::string setting =
        join({point.model, point.bandwidth, count_text(point.workers), point.others}, "|");
    const std::pair mine{point.seconds_held(estimate), point.compressor};
    const auto [known, fresh] = fastest.try_emplace(setting, mine);
    if (!fresh && mine < known->second) known->second = mine;
  }
  std::map<std::string, std::string> winners;
  for (const auto& [setting, best] : fastest) winners[setting] = best.second;
  return winners;
}

/// "randk or trimmed"
std::string left_out(const std::vector<AnsweredPoint>& points) {
  std::vector<AnsweredPoint> those;
  std::copy_if(points.begin(), points.end(), std::back_inserter(those),
               [](const AnsweredPoint& point) { return point.left_out; });
  return join(distinct(those, [](const AnsweredPoint& point) { return point.compressor; }), " or ");
}

/// "" if both name the same.
std::string disagreement(const std::vector<AnsweredPoint>& points) {
  const auto physics = winners_by(points, &AnsweredPoint::physics);
  const auto fitted = winners_by(points, &AnsweredPoint::fitted);
  std::size_t differ = 0;
  for (const auto& [setting, winner] : fitted)
    if (const auto other = physics.find(setting); other != physics.end() && other->second != winner)
      ++differ;
  if (differ == 0) return "";
  return "Physics alone names another fastest run in " + std::to_string(differ) + " of " +
         std::to_string(fitted.size()) + " settings.";
}

/// The gain of the fastest network for each model, where that is sure.
void add_upgrades(Headline& headline, const ResultFile& result) {
  const auto summary = result.document.find("summary");
  if (summary == result.document.end() || !summary->is_object()) return;
  const auto upgrades = summary->find("upgrades");
  if (upgrades == summary->end() || !upgrades->is_array()) return;
  std::map<std::string, const Json*> fastest;  // the last step of each model
  for (const Json& upgrade : *upgrades)
    if (upgrade.is_object() && text_of(upgrade, "change") == "network")
      fastest[text_of(upgrade, "model")] = &upgrade;
  for (const auto& [model, upgrade] : fastest) {
    const auto gain = positive_of(*upgrade, "gain");
    const auto pays = pays_in(text_of(*upgrade, "verdict"));
    if (gain && pays && *pays != Pays::CannotBeTold)
      headline.numbers.push_back({times_text(*gain), "the speed of " + model + " with " +
                                                         text_of(*upgrade, "to") + " instead of " +
                                                         text_of(*upgrade, "from") + ": " +
                                                         to_text(*pays)});
  }
}

/// Uses the fitted estimate if there is one, because it is nearer to the measurements.
void add_sweep(Headline& headline, const ResultFile& result, bool with_sentences) {
  const std::vector<AnsweredPoint> all = points_of(result);
  const std::vector<AnsweredPoint> points = at_density(all, shown_density(all));
  const double workers = largest_common_workers(points);
  const bool fitted = std::any_of(points.begin(), points.end(), [](const AnsweredPoint& point) {
    return point.fitted.speedup.has_value();
  });
  std::map<std::string, std::map<std::pair<double, std::string>, Best>> best;
  std::map<Pays, std::size_t> told;
  std::size_t cases = 0;
  for (const AnsweredPoint& point : all) {
    if (point.dense()) continue;
    ++cases;
    ++told[point.verdict.value_or(Pays::CannotBeTold)];
  }
  for (const AnsweredPoint& point : points) {
    if (point.dense()) continue;
    const auto speedup = (fitted ? point.fitted : point.physics).speedup;
    if (!speedup || point.workers != workers) continue;
    const Best one{&point, *speedup};
    Best& known = best[point.model][{point.bits_per_second, point.bandwidth}];
    if (one.before(known)) known = one;
  }
  Best most;
  for (const auto& [model, by_bandwidth] : best) {
    std::vector<Best> listed;
    for (const auto& [bandwidth, one] : by_bandwidth) {
      listed.push_back(one);
      if (one.pays() == Pays::Yes && one.before(most)) most = one;
    }
    if (with_sentences) headline.sentences.push_back(verdict_sentence(listed, workers));
  }
  if (with_sentences && !best.empty()) {
    if (const std::string differ = disagreement(points); !differ.empty())
      headline.sentences.push_back(differ);
    if (const std::string names = left_out(points); !names.empty())
      headline.sentences.push_back("No run with " + names +
                                   " was fitted: physics alone forecasts them here.");
  }
  if (most.point != nullptr)
    headline.numbers.push_back(
        {times_text(most.speedup), "the speed of " + std::string(most.point->opponent()) +
                                       ", surely more than 1x, on " + count_text(workers) +
                                       " workers (" + most.point->model + ", " +
                                       most.point->compressor + at_bandwidth(*most.point) + ")"});
  if (cases == 0) return add_upgrades(headline, result);
  const auto add = [&](Pays pays, const std::string& what) {
    headline.numbers.push_back(
        {std::to_string(told[pays]) + " of " + std::to_string(cases), "points where " + what});
  };
  add(Pays::Yes, "compression surely pays");
  add(Pays::CannotBeTold, "it cannot be told");
  add(Pays::No, "it surely does not pay");
}

void add_simulated(Headline& headline, const ResultFile& result) {
  for (const Json& row : result.rows) {
    const auto seconds = positive_of(row, "iteration_seconds");
    if (!seconds) continue;
    const auto efficiency = positive_of(row, "scaling_efficiency");
    const auto speedup = positive_of(row, "speedup_over_dense");
    const std::string compressor = text_of(row, "compressor");
    const std::string what =
        text_of(row, "model") + (compressor == "dense" ? "" : " with " + compressor) + " on " +
        text_of(row, "ranks") + (text_of(row, "ranks") == "1" ? " GPU" : " GPUs");
    std::string sentence = "An iteration of " + what + " takes " + seconds_text(*seconds) + " s";
    if (efficiency) sentence += ", at a scaling efficiency of " + share_text(*efficiency);
    if (speedup && text_of(row, "compressor") != "dense")
      sentence += " and " + times_text(*speedup) + " the speed of dense";
    const auto verdict = pays_in(text_of(row, "verdict"));
    if (verdict)
      sentence += "; compressing " + words_of(Verdict{*verdict, {}, text_of(row, "measure")});
    headline.sentences.push_back(sentence + ".");
    headline.numbers.push_back({seconds_text(*seconds) + " s", "an iteration of " + what});
    if (efficiency) headline.numbers.push_back({share_text(*efficiency), "scaling efficiency"});
    if (speedup && text_of(row, "compressor") != "dense" &&
        verdict.value_or(Pays::Yes) != Pays::CannotBeTold)
      headline.numbers.push_back({times_text(*speedup), "the speed of dense"});
  }
}

/// A gain is a headline only where it is sure.
void add_decided(Headline& headline, const ResultFile& result) {
  add_said(headline, result);
  for (const Json& row : result.rows) {
    const bool today = text_of(row, "option") == "today";
    const auto seconds = positive_of(row, "iteration_seconds");
    if (today && seconds)
      headline.numbers.push_back({seconds_text(*seconds) + " s", "an iteration today"});
    const auto efficiency = positive_of(row, "scaling_efficiency");
    if (today && efficiency)
      headline.numbers.push_back({share_text(*efficiency), "scaling efficiency today"});
    const auto speedup = positive_of(row, "speedup");
    if (!speedup || text_of(row, "verdict") != to_text(Pays::Yes) ||
        text_of(row, "change") == "nodes" || text_of(row, "fits") == "no")
      continue;
    headline.numbers.push_back(
        {times_text(*speedup), "today's speed, with " + text_of(row, "option")});
    return;
  }
}

void add_errors(Headline& headline, const ResultFile& result) {
  const auto summary = result.document.find("summary");
  if (summary == result.document.end()) return;
  const auto median = number_of(*summary, "median_absolute_error_percent");
  const auto p90 = number_of(*summary, "p90_absolute_error_percent");
  const auto worst = number_of(*summary, "worst_error_percent");
  if (!median || !p90 || !worst) return;
  const std::string rows = text_of(*summary, "rows");
  headline.sentences.push_back(
      "Held against " + rows + " measured runs, forecasts (" + compared_words(result) +
      ") are off by " + fixed(*median, 1) + " % in the median, by " + fixed(*p90, 1) +
      " % at the 90th percentile and by " + with_sign(*worst, 1) + " % at worst.");
  headline.numbers.push_back({fixed(*median, 1) + " %", "median error of " + rows + " forecasts (" +
                                                            compared_words(result) + ")"});
  headline.numbers.push_back({fixed(*p90, 1) + " %", "90th percentile of the errors"});
  headline.numbers.push_back({with_sign(*worst, 1) + " %", "the worst error"});
}

}  // namespace

Headline headline_of(const std::vector<ResultFile>& results) {
  Headline headline;
  const auto each = [&](const std::string& command, auto add) {
    for (const ResultFile& result : results)
      if (result.command == command) add(result);
  };
  each("decide", [&](const ResultFile& result) { add_decided(headline, result); });
  each("breakeven", [&](const ResultFile& result) { add_breakeven(headline, result); });
  each("tta", [&](const ResultFile& result) { add_said(headline, result); });
  std::vector<const ResultFile*> trained;
  each("train", [&](const ResultFile& result) { trained.push_back(&result); });
  for (std::string& sentence : ends_of(grouped_trainings(trained)))
    headline.sentences.push_back(std::move(sentence));
  const bool answered = !headline.sentences.empty();
  each("sweep", [&](const ResultFile& result) {
    add_sweep(headline, result, !answered);
    add_said(headline, result);
  });
  each("simulate", [&](const ResultFile& result) { add_simulated(headline, result); });
  each("fit", [&](const ResultFile& result) { add_errors(headline, result); });
  each("compare", [&](const ResultFile& result) { add_errors(headline, result); });
  for (std::vector<std::string>* some : {&headline.sentences, &headline.reasons})
    if (some->size() > kMostSentences) {
      const std::size_t more = some->size() - kMostSentences;
      some->resize(kMostSentences);
      some->push_back("And " + std::to_string(more) + " more of that kind.");
    }
  const bool compares = std::any_of(results.begin(), results.end(), [](const ResultFile& result) {
    return result.command == "breakeven" || result.command == "decide" ||
           (result.command == "sweep" &&
            std::any_of(result.rows.begin(), result.rows.end(),
                        [](const Json& row) { return text_of(row, "compressor") != "dense"; }));
  });
  std::erase(headline.sentences, question_of(results));  // the title
  if (compares && !headline.sentences.empty()) headline.reasons.emplace_back(kOnlyTime);
  if (headline.numbers.size() > 3) headline.numbers.resize(3);
  return headline;
}

}  // namespace gradcast
