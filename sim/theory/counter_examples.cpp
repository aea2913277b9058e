#include "sim/theory/counter_examples.hpp"

namespace gradcast {
namespace {

struct CounterExample {
  const char* law;
  double density;
};

/// The first three are normal, the fourth is a normal around 0 whose tails are clipped, and of the
/// last all magnitudes are equal.
constexpr CounterExample kCounterExamples[] = {{"normal:8,1", 0.001},
                                               {"normal:5,1", 0.1},
                                               {"normal:3,1", 0.5},
                                               {"clipped-normal:1", 0.01},
                                               {"signs", 0.001}};

}  // namespace

std::vector<BoundVerdict> counter_examples(const Drawing& drawing) {
  std::vector<BoundVerdict> verdicts;
  for (const CounterExample& example : kCounterExamples)
    verdicts.push_back(judge(read_subject(example.law), {&example.density, 1}, drawing));
  return verdicts;
}

std::vector<std::string> counter_example_sentences() {
  return {
      "Theorem 1 claims that Top-k leaves at most (1 - k/d)^2 of the square of any u whose "
      "distribution is bell-shaped.",
      "As printed it is false: its proof takes for granted that the sorted squares lie under the "
      "line 1 - i/d, which a bell shape does not give (far from 0, or with clipped tails, "
      "magnitudes are nearly equal), and which is neither sufficient nor necessary.",
      "What is true: the bound holds at every k exactly when the Lorenz curve of u^2 lies under "
      "p^2, so it holds where |u|_(i)^2 / (2 (d - i) + 1) never rises; and where the density of "
      "|u| never rises, as of a normal around 0, even (1 - k/d)^3 holds."};
}

}  // namespace gradcast
