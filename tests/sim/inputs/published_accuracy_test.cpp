#include "sim/inputs/published_accuracy.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/inputs/data_files.hpp"

using namespace gradcast;

namespace {

const std::string kAccuracyHeader =
    "model,dataset,compressor,density,workers,optimizer,error_feedback,accuracy_percent\n";

PublishedAccuracies published(const std::string& rows) {
  return load_published_accuracies({"accuracy-x.csv", "# source: X\n" + kAccuracyHeader + rows});
}

}  // namespace

TEST_CASE("a training is held against dense of the same optimizer and workers", "[inputs]") {
  const PublishedAccuracies all = published(
      "m,d,dense,1,4,sgd,,70\nm,d,dense,1,8,sgd,,75\nm,d,dense,1,8,momentum,,73\n"
      "m,d,topk,0.01,8,momentum,no,40\nm,d,topk,0.01,8,momentum,yes,72.5\n");
  const auto gap = published_gap(all, "m", "topk", 0.01);
  REQUIRE(gap);
  CHECK(gap->percent == 72.5);  // with error feedback
  CHECK(gap->of_dense == 73);
  CHECK(!published_gap(all, "m", "topk", 0.001));
  CHECK(!published_gap(all, "other", "topk", 0.01));
  CHECK(!published_gap(published("m,d,topk,0.01,8,sgd,yes,72\n"), "m", "topk", 0.01));
}

TEST_CASE("what is no accuracy is refused with its line", "[inputs]") {
  CHECK_THROWS_AS(published("m,d,topk,0.01,8,sgd,yes,101\n"), DataError);
  CHECK_THROWS_AS(published("m,d,topk,0.01,8,sgd,perhaps,50\n"), DataError);
  CHECK_THROWS_AS(published("m,d,topk,2,8,sgd,yes,50\n"), DataError);
}

// GRACE: Top-k of 1 % with error feedback 72.99 %, dense with momentum 73.88 %.
TEST_CASE("GRACE's ResNet-50 ended 0.89 points lower with Top-k of 1 %", "[inputs]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto gap =
      published_gap(load_published_accuracies(files.read(kPublishedAccuracies, "accuracy-grace")),
                    "resnet-50", "topk", 0.01);
  REQUIRE(gap);
  CHECK(gap->of_dense - gap->percent == Approx(0.89));
  CHECK(gap->workers == 8);
}

// PowerSGD has error feedback in its source, natural compression has not: its row with feedback
// does not count. GRACE: 75.51 of 75.4 with plain SGD, 73.02 of 73.88 with momentum.
TEST_CASE("a training counts that had error feedback as the compressor usually has it",
          "[inputs]") {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto grace = load_published_accuracies(files.read(kPublishedAccuracies, "accuracy-grace"));
  const auto powersgd = published_gap(grace, "resnet-50", "powersgd", 0.001);
  REQUIRE(powersgd);
  CHECK(powersgd->percent == 75.51);
  CHECK(powersgd->of_dense == 75.4);
  const auto natural = published_gap(grace, "resnet-50", "natural", 0.001);
  REQUIRE(natural);
  CHECK(natural->percent == 73.02);
  CHECK(natural->of_dense == 73.88);
  CHECK(!published_gap(grace, "resnet-50", "qsgd", 1));  // GRACE had other levels than the usual
}
