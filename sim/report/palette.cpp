#include "sim/report/palette.hpp"

#include <array>
#include <set>

namespace gradcast {
namespace {

const std::map<std::string, Look>& known_looks() {
  static const std::map<std::string, Look> kKnown = {
      // Compressors have Okabe and Ito's seven colours, without yellow, which is hard to see on
      // white.
      {"dense", {"#787878", 0, 0}},
      {"topk", {"#0072b2", 1, 1}},
      {"randk", {"#56b4e9", 2, 2}},
      {"dgc", {"#e69f00", 3, 3}},
      {"gaussian", {"#009e73", 4, 0}},
      {"trimmed", {"#d55e00", 5, 1}},
      {"rtopk", {"#cc79a7", 6, 2}},
      {"threshold", {"#8c8c00", 0, 3}},
      // The other families have a hue each: casts teal, quantisers violet, low rank dark red.
      {"fp16", {"#1b6b73", 1, 0}},
      {"bf16", {"#5aa7ad", 2, 1}},
      {"int8", {"#2f1f57", 3, 0}},
      {"qsgd", {"#4b3587", 4, 1}},
      {"natural", {"#6850ac", 5, 2}},
      {"terngrad", {"#866fc6", 6, 3}},
      {"efsignsgd", {"#a48fd8", 0, 0}},
      {"onebit", {"#c2b2e8", 1, 1}},
      {"signsgd", {"#ddd3f4", 2, 2}},
      {"powersgd", {"#8b1e3f", 3, 0}},
      // Parts of the iteration: computing is blue-grey, compressing is sand.
      {"forward", {"#a9bfd6", 0, 0}},
      {"backward", {"#5f82a8", 1, 0}},
      {"computing", {"#7f9fc0", 0, 0}},
      {"encode", {"#b8973a", 2, 0}},
      {"codec", {"#a5852c", 2, 0}},
      {"decode", {"#e0cd86", 3, 0}},
      {"communication", {"#b0405f", 4, 1}},
      {"collective", {"#b0405f", 4, 1}},
      {"exposed communication", {"#b0405f", 4, 1}},
      {"update", {"#8fa58a", 5, 0}},
      {"overhead", {"#7d6ba8", 6, 3}},
      {"overhead and wait", {"#7d6ba8", 6, 3}},
      {"wait", {"#c2b6dd", 0, 2}},
      {"unexplained", {"#bcbcbc", 1, 2}},
      // Verdicts: green and violet differ for every eye, grey is between them.
      {"surely pays", {"#1b7837", 0, 0}},
      {"cannot be told", {"#bcbcbc", 1, 2}},
      {"surely does not pay", {"#762a83", 2, 0}},
      {"measured", {"#8a8a8a", 0, 1}},
      {"forecast", {"#3b87c4", 1, 0}},
  };
  return kKnown;
}

constexpr std::array<const char*, 8> kFurther = {"#44aa99", "#cc6677", "#999933", "#aa4499",
                                                 "#6f9bd1", "#b8860b", "#9c755f", "#7a7acb"};

}  // namespace

const Look& Palette::of(const std::string& name) const {
  static const Look kPlain = {"#787878", 0, 0};
  const auto found = looks_.find(name);
  return found == looks_.end() ? kPlain : found->second;
}

namespace {

std::string first_word(const std::string& name) { return name.substr(0, name.find(' ')); }

std::set<std::string> names_of(const Figure& figure) {
  std::set<std::string> names;
  for (const FigurePanel& panel : figure.panels)
    for (const FigureSeries& series : panel.series)
      if (!series.reference) names.insert(series.name);
  return names;
}

}  // namespace

Palette::Palette(const std::vector<Figure>& figures) {
  std::set<std::string> ambiguous;  // two of one figure begin like them
  for (const Figure& figure : figures) {
    std::map<std::string, int> beginnings;
    const std::set<std::string> names = names_of(figure);
    for (const std::string& name : names) ++beginnings[first_word(name)];
    for (const std::string& name : names) {
      looks_[name];
      if (beginnings[first_word(name)] > 1) ambiguous.insert(name);
    }
  }
  std::size_t further = 0;
  for (auto& [name, look] : looks_) {
    auto known = known_looks().find(name);
    if (known == known_looks().end() && !ambiguous.contains(name))
      known = known_looks().find(first_word(name));
    if (known != known_looks().end()) {
      look = known->second;
      continue;
    }
    look = {kFurther[further % kFurther.size()], static_cast<int>((further + 3) % kMarks),
            static_cast<int>((further + 1) % kPatterns)};
    ++further;
  }
}

}  // namespace gradcast
