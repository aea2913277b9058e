#include "sim/base/formula.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"

namespace gradcast {
namespace {

constexpr std::size_t kLongestFormula = 1000;
constexpr int kDeepest = 50;
constexpr std::string_view kFunctions[] = {"ceil", "floor", "sqrt", "min", "max"};

bool is_name_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_decimal(char c) { return c >= '0' && c <= '9'; }

}  // namespace

class Formula::Parser {
 public:
  Parser(std::string_view text, std::span<const std::string_view> names)
      : text_(text), names_(names) {}

  std::vector<Step> parse() {
    if (text_.size() > kLongestFormula)
      throw ValueError("a formula has at most " + std::to_string(kLongestFormula) + " letters");
    sum();
    if (next() != '\0') refuse("'" + std::string(1, next()) + "' is one too many");
    return std::move(steps_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw ValueError("formula " + in_quotes(text_) + ", character " + std::to_string(at_ + 1) +
                     ": " + what);
  }
  /// The next character that is no blank; '\0' at the end.
  char next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  void need(char c) {
    if (!take(c)) refuse("'" + std::string(1, c) + "' is missing");
  }

  void sum() {
    if (++depth_ > kDeepest) refuse("too many parentheses");
    product();
    for (;;) {
      const Kind kind = next() == '+' ? Kind::Add : Kind::Subtract;
      if (!take('+') && !take('-')) break;
      product();
      steps_.push_back({kind});
    }
    --depth_;
  }
  void product() {
    factor();
    for (;;) {
      const Kind kind = next() == '*' ? Kind::Multiply : Kind::Divide;
      if (!take('*') && !take('/')) return;
      factor();
      steps_.push_back({kind});
    }
  }
  void factor() {
    bool negative = false;
    while (take('-')) negative = !negative;
    if (take('(')) {
      sum();
      need(')');
    } else if (is_decimal(next()) || next() == '.') {
      number();
    } else if (is_name_letter(next())) {
      name();
    } else {
      refuse("a number, a name or '(' is missing");
    }
    if (negative) steps_.push_back({Kind::Negate});
  }
  void number() {
    double value = 0;
    const char* end = text_.data() + text_.size();
    const auto [stop, failed] = std::from_chars(text_.data() + at_, end, value);
    if (failed != std::errc()) refuse("not a number");
    steps_.push_back({Kind::Number, value});
    at_ = static_cast<std::size_t>(stop - text_.data());
  }
  void name() {
    const std::size_t first = at_;
    while (at_ < text_.size() && (is_name_letter(text_[at_]) || is_decimal(text_[at_]))) ++at_;
    const std::string_view word = text_.substr(first, at_ - first);
    if (const auto known = std::ranges::find(names_, word); known != names_.end()) {
      steps_.push_back({Kind::Name, 0, static_cast<std::size_t>(known - names_.begin())});
      return;
    }
    const auto function = std::ranges::find(kFunctions, word);
    if (function == std::end(kFunctions)) {
      at_ = first;
      std::vector<std::string> known(names_.begin(), names_.end());
      known.insert(known.end(), std::begin(kFunctions), std::end(kFunctions));
      refuse("unknown name " + in_quotes(word) + did_you_mean(std::string(word), known) +
             " (known: " + join(known) + ")");
    }
    constexpr Kind kKinds[] = {Kind::Ceil, Kind::Floor, Kind::Sqrt, Kind::Min, Kind::Max};
    const Kind kind = kKinds[function - std::begin(kFunctions)];
    need('(');
    sum();
    if (kind == Kind::Min || kind == Kind::Max) {
      need(',');
      sum();
    }
    need(')');
    steps_.push_back({kind});
  }

  std::string_view text_;
  std::span<const std::string_view> names_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<Step> steps_;
};

Formula::Formula(std::string_view text, std::span<const std::string_view> names)
    : text_(text), steps_(Parser(text_, names).parse()) {}

bool Formula::uses(std::size_t place) const {
  return std::ranges::any_of(
      steps_, [&](const Step& step) { return step.kind == Kind::Name && step.place == place; });
}

double Formula::of(std::span<const double> values) const {
  std::vector<double> stack;
  const auto pop = [&] {
    const double top = stack.back();
    stack.pop_back();
    return top;
  };
  for (const Step& step : steps_) {
    if (step.kind == Kind::Number || step.kind == Kind::Name) {
      stack.push_back(step.kind == Kind::Number ? step.number : values[step.place]);
      continue;
    }
    const double b = pop();
    const auto both = [&](auto made) { return made(pop(), b); };
    switch (step.kind) {
      case Kind::Negate:
        stack.push_back(-b);
        break;
      case Kind::Ceil:
        stack.push_back(std::ceil(b));
        break;
      case Kind::Floor:
        stack.push_back(std::floor(b));
        break;
      case Kind::Sqrt:
        stack.push_back(std::sqrt(b));
        break;
      case Kind::Add:
        stack.push_back(both([](double x, double y) { return x + y; }));
        break;
      case Kind::Subtract:
        stack.push_back(both([](double x, double y) { return x - y; }));
        break;
      case Kind::Multiply:
        stack.push_back(both([](double x, double y) { return x * y; }));
        break;
      case Kind::Divide:
        stack.push_back(both([](double x, double y) { return x / y; }));
        break;
      case Kind::Min:
        stack.push_back(both([](double x, double y) { return std::min(x, y); }));
        break;
      case Kind::Max:
        stack.push_back(both([](double x, double y) { return std::max(x, y); }));
        break;
      case Kind::Number:
      case Kind::Name:
        break;
    }
  }
  return stack.back();
}

}  // namespace gradcast
