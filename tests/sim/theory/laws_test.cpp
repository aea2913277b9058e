#include <catch2/catch.hpp>
#include <cmath>

#include "sim/base/error.hpp"
#include "sim/base/npy.hpp"
#include "sim/theory/law.hpp"
#include "sim/theory/population.hpp"
#include "sim/theory/subject.hpp"
#include "sim/theory/vector_conditions.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

// The ratio of 200,000 drawn elements varies by a third of a percent or so.
TEST_CASE("drawn elements leave what their population leaves", "[theory]") {
  for (const std::string& name : law_names()) {
    const Law law = parse_law(name);
    const SortedMagnitudes drawn(drawn_from(law, 200'000, 1));
    const Population population(law);
    // The square of a lognormal has a wild tail: a single element may be a percent of all.
    const double margin = name == "lognormal" ? 0.05 : 0.01;
    for (const double q : {0.001, 0.01, 0.1, 0.5}) {
      CAPTURE(name, q);
      const auto k = static_cast<std::int64_t>(std::llround(q * 200'000));
      CHECK(drawn.at(k).left == Approx(population.at(q).left).margin(margin));
    }
  }
}

TEST_CASE("a longer vector begins with a shorter one's elements", "[theory]") {
  const Law law = parse_law("student:3");
  const auto shorter = drawn_from(law, 10, 7);
  auto longer = drawn_from(law, 20, 7);
  longer.resize(10);
  CHECK(longer == shorter);
  CHECK(drawn_from(law, 10, 8) != shorter);
}

// From textbooks: 3, 9/5, 6, 3 + 6/(nu - 4), 12/5; equal magnitudes 1. For u with the density |u|:
// E u^4 / (E u^2)^2 = (1/3) / (1/2)^2 = 4/3.
TEST_CASE("a law has the kurtosis of textbooks", "[theory]") {
  const std::pair<const char*, double> known[] = {
      {"normal:8,1", 3},   {"uniform:3,5", 1.8}, {"laplace:2", 6},   {"student:7", 5},
      {"triangular", 2.4}, {"signs", 1},         {"linear", 4.0 / 3}};
  for (const auto& [law, kurtosis] : known) {
    CAPTURE(law);
    CHECK(kurtosis_of(parse_law(law)) == Approx(kurtosis).epsilon(1e-9));
  }
  CHECK(std::isnan(kurtosis_of(parse_law("student:4"))));
}

// 1, 1, 1, 5 around 2: squares 1, 1, 1, 9 (mean 3), fourths 1, 1, 1, 81 (mean 21): 21/9.
TEST_CASE("a vector has the kurtosis of its elements", "[theory]") {
  CHECK(kurtosis_of(std::vector<float>{1, 1, 5, 1}) == Approx(21.0 / 9));
}

TEST_CASE("parameters that make no distribution are refused in a line", "[theory]") {
  const auto said = [](const char* text) {
    try {
      parse_law(text);
    } catch (const ValueError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(said("norml"), Contains("did you mean 'normal'?") && Contains("normal:MU,SIGMA"));
  CHECK_THAT(said("normal:8"), Contains("'normal:8' has 1 parameter; write it like "
                                        "'normal:MU,SIGMA'"));
  CHECK_THAT(said("normal:0,0"), Contains("0 is not a deviation"));
  CHECK_THAT(said("normal:0,-1"), Contains("-1 is not a deviation"));
  CHECK_THAT(said("normal:1e9,1"), Contains("more than a million deviations"));
  CHECK_THAT(said("uniform:1,1"), Contains("from a lower to a higher number"));
  CHECK_THAT(said("student:2"), Contains("has no finite variance"));
  CHECK_THAT(said("student:2.1"), Contains("2.2"));
  CHECK_THAT(said("signs:1"), Contains("has 1 parameter; write it like 'signs'"));
  CHECK_THAT(said("clipped-normal:x"), Contains("'x'"));
  CHECK_THAT(said("lognormal:9"), Contains("from 0.01 to 3"));
}

TEST_CASE("in a list, a number belongs to the name before it", "[theory]") {
  CHECK(subject_words("normal:8,1,signs,u.npy,student:3,signs") ==
        std::vector<std::string>{"normal:8,1", "signs", "u.npy", "student:3"});
  CHECK_THROWS_WITH(subject_words("8,1"), Contains("'8' is no distribution"));
  CHECK_THROWS_WITH(subject_words("normal,,signs"), Contains("has an empty entry"));
}

TEST_CASE("a file has a ratio where its elements are finite and not all 0", "[theory]") {
  TemporaryFolder folder;
  const auto file = [&](std::vector<float> vector) {
    return folder.write("u.npy", npy_of(vector));
  };
  CHECK(read_subject(file({1, 2})).vector == std::vector<float>{1, 2});
  CHECK_THROWS_WITH(read_subject(file({0, -0.0F})), Contains("u.npy: has only zeros"));
  CHECK_THROWS_WITH(read_subject(file({1, NAN})), Contains("has a NaN as element 1"));
  CHECK_THROWS_WITH(read_subject(file({INFINITY})), Contains("has an infinity as element 0"));
}
