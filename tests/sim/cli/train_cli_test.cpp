#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;
using Json = nlohmann::ordered_json;

namespace {

/// A training of a second on computed samples.
std::vector<std::string> training(const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"train",   "--dataset", "made",     "--workers", "2",
                                 "--batch", "200",       "--epochs", "2",         "--compressor",
                                 "topk",    "--density", "0.01"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("train has a row each epoch, and says how it ended", "[cli]") {
  const Ran ran = gradcast_with(training({"--format", "json"}));
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const Json document = Json::parse(ran.out);
  REQUIRE(document["results"].size() == 2);
  // 6,000 samples: 3,000 a worker, 15 batches of 200.
  CHECK(document["results"][1]["iteration"] == 30);
  CHECK(document["results"][1]["sent_elements_mean"] == 1992.0);  // 1 % of 199,210, truncated
  CHECK(document["summary"]["parameters"] == 199210);
  CHECK(document["summary"]["final_test_accuracy_percent"] ==
        document["results"][1]["test_accuracy_percent"]);
  CHECK(document["summary"]["final_test_accuracy_percent"] > 20.0);  // ten classes
}

TEST_CASE("the number of threads changes no byte of train's answer", "[cli]") {
  const Ran one = gradcast_with(training({"--format", "json", "-j", "1"}));
  CHECK(one.exit_code == 0);
  CHECK(gradcast_with(training({"--format", "json", "-j", "2"})).out == one.out);
}

TEST_CASE("train goes on from its checkpoint, also to more epochs", "[cli]") {
  const TemporaryFolder folder;
  const std::string state = (folder.path / "state").string();
  std::vector<std::string> shorter = training({"--checkpoint", state, "--format", "csv"});
  *(std::find(shorter.begin(), shorter.end(), "--epochs") + 1) = "1";
  CHECK(gradcast_with(shorter).exit_code == 0);
  const Ran resumed = gradcast_with(training({"--checkpoint", state, "--format", "csv"}));
  CHECK_THAT(resumed.err, Contains("goes on after iteration 15"));
  CHECK(resumed.out == gradcast_with(training({"--format", "csv"})).out);
  refuses(training({"--checkpoint", state, "--seed", "9"}), 3, "is of another training");
  refuses(shorter, 2, "has 30 iterations behind it, and these are 15");
}

TEST_CASE("train writes what each worker sent in each iteration", "[cli]") {
  const TemporaryFolder folder;
  const std::string counts = (folder.path / "counts.csv").string();
  CHECK(gradcast_with(training({"--counts", counts})).exit_code == 0);
  std::ifstream file(counts);
  std::string line;
  std::getline(file, line);
  CHECK(line == "iteration,worker,elements,density,wanted,sent");
  std::getline(file, line);
  CHECK(line == "1,1,199210,0.01,1992,1992");
  int lines = 1;
  while (std::getline(file, line)) ++lines;
  CHECK(lines == 30 * 2);
}

TEST_CASE("train learns a text, and says how many characters it predicts", "[cli]") {
  const Ran ran = gradcast_with({"train", "--network", "char-lstm", "--dataset", "made",
                                 "--workers", "2", "--epochs", "1", "--format", "json"});
  REQUIRE(ran.exit_code == 0);
  const Json summary = Json::parse(ran.out)["summary"];
  CHECK(summary["batch"] == 4);
  CHECK(summary["learning_rate"] == 1.0);
  CHECK(summary["iterations"] == 70);  // 562 windows, 281 a worker, 4 a batch
  // One of 20 letters by chance: 5 %. The first of the three that may follow: half.
  CHECK(summary["final_test_accuracy_percent"] > 15);
  CHECK(summary["final_test_accuracy_percent"] < 60);
}

// 199,210 parameters, per tensor: 156,800 + 200 + 40,000 + 200 + 2,000 + 10. int8 with blocks of
// 256 has 613 + 1 + 157 + 1 + 8 + 1 = 781 scales, and 49,803 words of codes (10 are 3 words).
// PowerSGD of rank 4: (200 + 784 + 200 + 200) x 4 of the first two matrices, 2,000 of the third as
// it is ((10 + 200) x 4 x 2 = 1,680 is below 2,000, so 840 of it), and 410 biases.
TEST_CASE("train says the bytes of casts, quantisers and PowerSGD", "[cli]") {
  const auto summary = [](const std::vector<std::string>& more) {
    std::vector<std::string> words{"train", "--dataset", "made", "--workers", "2",   "--batch",
                                   "1000",  "--epochs",  "1",    "--format",  "json"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = gradcast_with(words);
    INFO(ran.err);
    REQUIRE(ran.exit_code == 0);
    return Json::parse(ran.out)["summary"];
  };
  const Json int8 = summary({"--compressor", "int8", "--selection", "per-tensor"});
  CHECK(int8["sent_bytes_mean"] == 4 * (781.0 + 49803));
  CHECK(int8["parameter"] == 256.0);
  CHECK(int8["feedback"] == true);
  CHECK(int8["density"] == 1.0);
  const Json powersgd = summary({"--compressor", "powersgd", "--parameter", "4"});
  CHECK(powersgd["sent_bytes_mean"] == 4 * (1384.0 * 4 + 840 + 410));
  CHECK(powersgd["wanted_elements"] == 1384 * 4 + 840 + 410);
  CHECK(powersgd["sent_over_k_mean"] == 1.0);
  CHECK(powersgd["mode"] == "code");
  CHECK(powersgd["selection"] == "per-tensor");
  const Json fp16 = summary({"--compressor", "fp16"});
  CHECK(fp16["sent_bytes_mean"] == 2 * 199210.0);
  CHECK(fp16["feedback"] == false);
  CHECK(summary({"--compressor", "fp16", "--feedback", "yes"})["feedback"] == true);
  CHECK(summary({})["sent_bytes_mean"] == 4 * 199210.0);
  CHECK(summary({"--compressor", "topk", "--density", "0.01"})["sent_bytes_mean"] == 8 * 1992.0);
}

TEST_CASE("train refuses in one line what makes no sense", "[cli]") {
  refuses({"train", "--compressor", "fp166"}, 2, "did you mean 'fp16'?");
  refuses({"train", "--compressor", "fp16", "--density", "0.1"}, 2,
          "--density: fp16 sends something of every element");
  refuses({"train", "--compressor", "powersgd", "--density-warmup", "2"}, 2,
          "--density-warmup: powersgd");
  refuses({"train", "--compressor", "powersgd", "--parameter", "0"}, 2,
          "--parameter: parameter 0 is not one of compressor 'powersgd': rank, a whole number from "
          "1 to 1024");
  refuses({"train", "--compressor", "qsgd", "--parameter", "1.5"}, 2, "levels, a whole number");
  refuses({"train", "--compressor", "natural", "--parameter", "1"}, 2,
          "'natural' takes no parameter");
  refuses({"train", "--parameter", "1"}, 2, "'dense' takes no parameter");
  refuses({"train", "--compressor", "int8", "--mode", "code"}, 2, "int8 has one definition");
  refuses({"train", "--compressor", "int8", "--shared-seed", "yes"}, 2, "int8 draws nothing");
  refuses({"train", "--compressor", "int8", "--shared-scale", "yes"}, 2,
          "int8 has no levels that add up; qsgd, terngrad have");
  refuses({"train", "--compressor", "topk", "--shared-scale", "yes"}, 2, "topk has no levels");
  refuses({"train", "--compressor", "powersgd", "--selection", "merged"}, 2,
          "--selection: powersgd sends a matrix in place of each tensor");
  refuses({"train", "--compressor", "onebit", "--aggregation", "gtopk"}, 2,
          "--aggregation: onebit");
  refuses({"train", "--compressor", "onebit", "--check-bound", "yes"}, 2, "onebit does not");
  refuses({"train", "--network", "fnn3"}, 2, "did you mean 'fnn-3'?");
  refuses({"train", "--dataset", "mnist"}, 2, "known: fashion-mnist, common-licenses, made");
  refuses({"train", "--dataset", "common-licenses"}, 2,
          "fnn-3 learns from images: fashion-mnist or made");
  refuses({"train", "--network", "char-lstm", "--data", "/nowhere"}, 3, "/nowhere");
  refuses({"train", "--data", "/nowhere"}, 3, "/nowhere: there is no train-images-idx3-ubyte");
  refuses({"train", "--density", "0.1"}, 2, "--density: dense sends everything");
  refuses({"train", "--compressor", "gaussian", "--aggregation", "gtopk"}, 2, "topk alone");
  refuses({"train", "--compressor", "qsgd", "--value-type", "fp16"}, 2,
          "only compressors that select");
  refuses({"train", "--compressor", "topk", "--aggregation", "gtopk", "--value-type", "fp16"}, 2,
          "--value-type is fp32 there");
  refuses({"train", "--compressor", "threshold", "--density", "0.1"}, 2,
          "threshold sends whatever is above its --parameter");
  refuses({"train", "--compressor", "topk", "--masking", "yes"}, 2, "--momentum-correction yes");
  refuses({"train", "--compressor", "topk", "--shared-seed", "yes"}, 2, "topk draws nothing");
  refuses(training({"--observe", "31", "--record", "u"}), 2,
          "iteration 31 comes after the last, 30");
  refuses(training({"--record", "u"}), 2, "--record: --observe says in which iterations");
  refuses(training({"--observe", "3", "--checkpoint", "x"}), 2, "not go with --checkpoint");
  refuses(training({"--check-bound", "yes", "--checkpoint", "x"}), 2, "not go with --checkpoint");
  refuses({"train", "--dataset", "made", "--workers", "4", "--learning-rate", "1000", "--format",
           "json"},
          2, "try a --learning-rate below 1000");
  refuses({"train", "--momentum", "1"}, 2, "0 to below 1");
  refuses({"train", "--dataset", "made", "--workers", "2", "--batch", "4000"}, 2,
          "need 8000 samples, and made has 6000");
}
