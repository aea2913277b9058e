#include "sim/tta/training_file.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

const std::string kHeader =
    "network,dataset,compressor,mode,density,workers,batch,seed,epoch,iteration,train_loss,"
    "test_accuracy_percent\n";

std::vector<TrainingRun> read(const std::string& content) {
  return read_training({"a.json", content});
}

void refused(const std::string& content, const std::string& says) {
  CAPTURE(content);
  try {
    (void)read(content);
    FAIL("nothing was refused");
  } catch (const DataError& error) {
    CHECK_THAT(error.what(), Contains("a.json") && Contains(says));
    CHECK(error.code() == ExitCode::BadInput);
  }
}

}  // namespace

TEST_CASE("a training is read from JSON, with what only its summary says", "[tta]") {
  const std::vector<TrainingRun> runs = read(R"({"seed": 7, "results": [
    {"compressor": "gaussian", "mode": "code", "density": 0.001, "iteration": 29,
     "test_accuracy_percent": 70.5, "unknown": [1, {"a": 2}]},
    {"compressor": "gaussian", "mode": "code", "density": 0.001, "iteration": 58,
     "test_accuracy_percent": 71, "sent_elements_mean": 57}],
    "summary": {"network": "fnn-3", "dataset": "d", "workers": 16, "batch": 128,
                "parameters": 199210}})");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].setup == TrainingSetup{"fnn-3", "d", "gaussian", "code", 0.001, 16, 128});
  CHECK(runs[0].seed == 7);
  CHECK(runs[0].parameters == 199'210);
  CHECK(runs[0].sent_elements == 57.0);
  REQUIRE(runs[0].tests.size() == 2);
  CHECK(runs[0].tests[1].iteration == 58);
  CHECK(runs[0].tests[0].percent == 70.5);
}

TEST_CASE("the type of values decides what travels, and is a setting like others", "[tta]") {
  const auto of_type = [](const std::string& type) {
    return read(
        R"({"seed": 7, "results": [{"compressor": "topk", "density": 0.01, "value_type": ")" +
        type + R"(", "iteration": 29, "test_accuracy_percent": 70}],
    "summary": {"network": "fnn-3", "dataset": "d", "workers": 16, "batch": 128}})");
  };
  CHECK(of_type("fp16")[0].setup.value_type == ValueType::Fp16);
  CHECK_THAT(of_type("fp16")[0].setup.settings, Contains("value_type fp16"));
  CHECK_THROWS_WITH(of_type("fp8"), Contains("known: fp32, fp16, bf16"));
}

// 300 in each of the first 100 iterations and 100 in the next 300: 60,000 in 400.
TEST_CASE("what was sent is the mean of all iterations, not of the last row's", "[tta]") {
  const std::string row = R"({"compressor": "gaussian", "density": 0.001, )";
  const std::vector<TrainingRun> runs =
      read(R"({"seed": 7, "results": [)" + row +
           R"("iteration": 100, "test_accuracy_percent": 70, "sent_elements_mean": 300}, )" + row +
           R"("iteration": 400, "test_accuracy_percent": 71, "sent_elements_mean": 100}],
    "summary": {"network": "fnn-3", "dataset": "d", "workers": 16, "batch": 128}})");
  REQUIRE(runs.size() == 1);
  CHECK(*runs[0].sent_elements == Approx(150));
}

TEST_CASE("a CSV file has the same columns, others are left alone, and dense has density 1",
          "[tta]") {
  const std::vector<TrainingRun> runs = read("# invented\n" + kHeader +
                                             "n,d,dense,,0.5,4,8,1,1,10,1.2,60\n"
                                             "n,d,dense,,0.5,4,8,1,2,20,1.1,\n"
                                             "n,d,topk,,0.5,4,8,1,1,10,1.2,50\n");
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].setup.density == 1);
  CHECK(runs[0].tests.size() == 1);  // nothing was tested after 20
  CHECK(runs[1].setup.density == 0.5);
}

TEST_CASE("what is no training is refused in one line with what would be right", "[tta]") {
  refused("[1]", "is no answer of `gradcast train`");
  refused(R"({"schema": {"name": "gradcast/sweep"}, "results": []})", "'gradcast/train'");
  refused(R"({"seed": 1})", "lacks 'results'");
  refused(R"({"results": []})", "has no evaluation");
  refused(R"({"results": [{"network": "a"}]})", "results row 1, 'compressor': is empty");
  refused(R"({"results": [{"network": "a", "compressor": "topk"}]})",
          "results row 1, 'workers': is missing");
  refused(R"({"results": [)", "should go on");
  refused("network,iteration\n", "column");
  refused(kHeader + "n,d,topk,,2,4,8,1,1,10,1,60\n", "density");
  refused(kHeader + "n,d,topk,,0.1,4,8,1,1,10,1,101\n", "write percent from 0 to 100");
  refused(kHeader + "n,d,topk,,0.1,4,8,1,1,ten,1,50\n", "iteration");
  refused(kHeader + "n,d,topk,,0.1,4,8,1,1,10,1,50\nn,d,topk,,0.1,4,8,1,1,10,1,51\n",
          "10 comes after 10; the evaluations of a training must rise");
}

// NaN equals nothing, so that two rows of one training would be two trainings.
TEST_CASE("a setting that is no finite number is refused", "[tta]") {
  const std::string header =
      "network,dataset,compressor,density,workers,batch,seed,iteration,test_accuracy_percent,"
      "weight_decay\n";
  for (const char* value : {"nan", "-nan", "inf", "Infinity", "1e999"})
    refused(header + "n,d,topk,0.1,4,8,1,10,50,0.1\nn,d,topk,0.1,4,8,1,20,51," + value + "\n",
            "is no finite number");
  CHECK(read(header + "n,d,topk,0.1,4,8,1,10,50,decoupled\n").size() == 1);
}
