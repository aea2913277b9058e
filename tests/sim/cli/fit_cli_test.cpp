#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;
using Json = nlohmann::ordered_json;

namespace {

using Words = std::vector<std::string>;

Words fit_with(const Words& more) {
  Words words{"fit"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Json fitted(Words more) {
  more.insert(more.end(), {"--format", "json"});
  const Ran ran = gradcast_with(fit_with(more));
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  return Json::parse(ran.out);
}

/// Every model forecast by a fit of the others, by the claimed structure alone. Cases that ask the
/// same get the first one's answer.
const Json& without_each_model(const std::string& measured, Words more = {}) {
  const Words words{"--measured", measured, "--leave-one-out", "model", "--claimed-only"};
  more.insert(more.begin(), words.begin(), words.end());
  static std::map<Words, Json> answers;
  const auto found = answers.find(more);
  return found != answers.end() ? found->second : answers.emplace(more, fitted(more)).first->second;
}

double error_of(const Json& row) { return std::abs(row["error_percent"].get<double>()); }

const Json& table_2() { return without_each_model("measured-shi2019-table2"); }

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string committed(const std::string& name) {
  return content(std::string(GRADCAST_SOURCE_DIR) + "/traces/" + name + ".csv");
}

/// Forecasts by model and compressor.
std::map<std::string, double> forecasts(const Json& document) {
  std::map<std::string, double> seconds;
  for (const Json& row : document["results"])
    seconds[row["model"].get<std::string>() + " " + row["compressor"].get<std::string>()] =
        row["predicted_seconds"];
  return seconds;
}

/// Two models, dense, quick to fit.
constexpr const char* kTwoModels =
    "source,model,batch,compute_seconds,cluster,nodes,gpus_per_node,compressor,density,fusion,"
    "overlap,iteration_seconds\n"
    "mine,alexnet,128,0.08,10gbe-4x4,4,4,dense,1,merged,no,0.57\n"
    "mine,resnet-50,128,0.46,10gbe-4x4,4,4,dense,1,merged,no,0.7\n";

}  // namespace

TEST_CASE("Left out by model, Table 2 is forecast within 3.7 % on the mean", "[cli]") {
  double sum = 0;
  int within = 0;
  for (const Json& row : table_2()["results"]) {
    sum += error_of(row);
    within += error_of(row) <= 8.5;
    // The shortest compute time and the cheapest compressor: all other models lie above both.
    if (row["model"] == "alexnet" && row["compressor"] == "gaussian") {
      CHECK(error_of(row) <= 13);
      CHECK_THAT(row["extrapolated"].get<std::string>(), Contains("compute_seconds 0.0804 below"));
    }
  }
  CHECK(table_2()["results"].size() == 16);
  CHECK(sum / 16 <= 3.7);
  CHECK(within >= 15);
  CHECK(table_2()["summary"]["mean_absolute_error_percent"].get<double>() == Approx(sum / 16));
}

TEST_CASE("The order of the four algorithms is forecast right for every model of Table 2",
          "[cli]") {
  CHECK(table_2()["summary"]["rankings_total"] == 4);
  CHECK(table_2()["summary"]["rankings_right"] == 4);
}

TEST_CASE("A row of the smallest or the largest model is marked as extrapolated, others are not",
          "[cli]") {
  // compute: AlexNet 0.08, ResNet-50 0.46, Inception-v4 0.69, VGG-16 1.12 s; elements: ResNet-50
  // the fewest, VGG-16 the most.
  for (const Json& row : table_2()["results"]) {
    CAPTURE(row["model"], row["compressor"]);
    CHECK(row["extrapolated"].get<std::string>().empty() == (row["model"] == "inception-v4"));
  }
}

TEST_CASE("Every fitted value is physical, in every fold", "[cli]") {
  for (const char* measured :
       {"measured-shi2019-table2", "measured-gtopk-1gbe", "measured-mg-wfbp-dense"}) {
    const Json& document = without_each_model(measured, {"--starts", "0"});
    Json fits = document["summary"]["folds"];
    fits.push_back(document["summary"]["fit"]);
    CHECK(fits.size() > 3);
    for (const Json& fit : fits)
      for (const Json& parameter : fit["parameters"]) {
        CAPTURE(measured, parameter);
        CHECK(parameter["number"].get<double>() >= 0);
        CHECK(std::isfinite(parameter["number"].get<double>()));
        // Seconds a byte: the line rates of 10GbE, 56 Gbit/s InfiniBand and 1GbE.
        if (parameter["parameter"] != "nic_bandwidth") continue;
        const bool infiniband =
            parameter["applies_to"].get<std::string>().find("ib56") != std::string::npos;
        const double line_rate = std::string(measured) == "measured-gtopk-1gbe" ? 1e9
                                 : infiniband                                   ? 56e9
                                                                                : 10e9;
        CHECK(parameter["number"].get<double>() >= 8 / line_rate * (1 - 1e-9));
      }
  }
}

TEST_CASE("An interval of a rate begins at the lower rate", "[cli]") {
  const Json& document = without_each_model("measured-gtopk-1gbe", {"--starts", "0"});
  const Json& rate = document["summary"]["fit"]["parameters"][0];
  REQUIRE(rate["parameter"] == "nic_bandwidth");
  CHECK(gradcast::parse_rate(rate["low"].get<std::string>()) <=
        gradcast::parse_rate(rate["value"].get<std::string>()));
  CHECK(gradcast::parse_rate(rate["value"].get<std::string>()) <=
        gradcast::parse_rate(rate["high"].get<std::string>()));
  CHECK(gradcast::parse_rate(rate["least"].get<std::string>()) <
        gradcast::parse_rate(rate["most"].get<std::string>()));
}

TEST_CASE("Left out by model, gTop-k's runs are within 15 % on average", "[cli]") {
  // Far off are Top-k on 32 workers, whose all-gather collapses as the dense all-reduce does, and
  // LSTM-PTB, whose batch is assumed.
  const Json& document = without_each_model("measured-gtopk-1gbe", {"--starts", "3"});
  CHECK(document["summary"]["mean_absolute_error_percent"].get<double>() <= 15);
  CHECK(document["summary"]["rows"] == 50);
  CHECK(document["summary"]["rows_outside_model"] == 10);  // five models, 16 and 32 workers
  for (const Json& row : document["results"]) {
    const bool outside = !row["outside"].get<std::string>().empty();
    CHECK(outside == (row["compressor"] == "dense" && row["nodes"].get<int>() >= 16));
  }
}

TEST_CASE("Left out by model, MG-WFBP's dense runs are within 4 % in the middle and 16 at worst",
          "[cli]") {
  // One search each: ten more end nowhere lower, and take a minute.
  const Json& document = without_each_model("measured-mg-wfbp-dense", {"--starts", "0"});
  std::vector<double> errors;
  for (const Json& row : document["results"]) {
    REQUIRE(row["outside"] == "");
    errors.push_back(error_of(row));
  }
  REQUIRE(errors.size() == 24);
  std::sort(errors.begin(), errors.end());
  CHECK((errors[11] + errors[12]) / 2 <= 4);
  CHECK(errors.back() <= 16);
}

TEST_CASE("What a fit is worth is said beside a choice among all that was tried", "[cli]") {
  // Two structures of a file of our own, three models of Table 2: quick.
  const TemporaryFolder folder;
  std::string some;
  for (const std::string& line : gradcast::split_words(committed("measured-shi2019-table2"), '\n'))
    if (!line.empty() && line.find("vgg-16,") == std::string::npos) some += line + "\n";
  const std::string measured = folder.write("measured-three.csv", some);
  const std::string structures =
      folder.write("fit-three.csv",
                   "structure,errors,parameter,applies_to,start,least,most,source\n"
                   "one,absolute,per_iteration_overhead,,5ms,0s,500ms,ours\n"
                   "two,absolute,per_iteration_overhead,compressor=dense,5ms,0s,500ms,ours\n"
                   "two,absolute,encode_per_call,compressor=topk+dgc+gaussian,1ms,0s,500ms,ours\n");
  const Words words{"--measured", measured, "--structures",    structures,
                    "--starts",   "0",      "--leave-one-out", "model"};
  const Json summary = fitted(words)["summary"];
  CHECK(summary["structures_tried"] == 2);
  CHECK(summary["structure"] == "one");
  CHECK(summary["nested"]["chosen"].size() == 3);  // folds
  CHECK(summary["nested"]["mean_absolute_error_percent"].get<double>() > 0);
  CHECK(std::abs(summary["nested"]["worst_error_percent"].get<double>()) >=
        summary["nested"]["mean_absolute_error_percent"].get<double>());
  for (const Json& interval :
       {summary["bootstrap_95_percent"], summary["nested"]["bootstrap_95_percent"],
        summary["unfitted"]["bootstrap_95_percent"]})
    CHECK(interval[0].get<double>() < interval[1].get<double>());
  CHECK(summary["bootstrap_95_percent"][0].get<double>() <
        summary["mean_absolute_error_percent"].get<double>());
  CHECK(summary["structures"][0]["structure"] == "one");
  // Without random starts the nested folds are the plain ones.
  CHECK(summary["structures"][0]["mean_absolute_error_percent"].get<double>() ==
        Approx(summary["mean_absolute_error_percent"].get<double>()));
  const Ran ran = gradcast_with(fit_with(words));
  CHECK_THAT(ran.out, Contains("Structures tried: 2. Chosen anew in every fold") &&
                          Contains("(nested): ") && Contains("worst ") &&
                          Contains("95 % by bootstrap of whole groups"));
}

TEST_CASE("No gain is claimed where intervals meet", "[cli]") {
  // One overhead, where the truth is none: forecasts as good as before, and not better.
  const TemporaryFolder folder;
  std::string text = kTwoModels;
  const Json plain =
      Json::parse(gradcast_runs("compare", "--measured",
                                folder.write("measured-a.csv", text).c_str(), "--format", "json")
                      .out);
  for (const char* measured : {"0.57\n", "0.7\n"}) {
    const Json& row = plain["results"][measured == std::string("0.57\n") ? 0 : 1];
    const double off = measured == std::string("0.57\n") ? 1.02 : 0.99;
    text.replace(text.find(measured), std::string(measured).size(),
                 std::to_string(off * row["predicted_seconds"].get<double>()) + "\n");
  }
  const std::string structures =
      folder.write("fit-a.csv",
                   "structure,errors,parameter,applies_to,start,least,most,source\n"
                   "one,relative,per_iteration_overhead,,5ms,0s,500ms,ours\n");
  const Ran ran = gradcast_with(fit_with({"--measured", folder.write("measured-b.csv", text),
                                          "--structures", structures, "--leave-one-out", "row"}));
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, Contains("the intervals meet, so no gain is claimed"));
}

TEST_CASE("Without leaving anything out errors are said to be no forecasts", "[cli]") {
  const Ran ran = gradcast_runs("fit", "--starts", "0");
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, Contains("they are no forecasts"));
  const Json document = fitted({"--starts", "0"});
  CHECK(document["summary"]["in_sample"] == true);
  CHECK(document["summary"]["leave_one_out"].is_null());
}

// Left-out rows stay out: ResNet-50's times are doubled, and only the others' forecasts change.
TEST_CASE("A model's measured times do not reach its own forecasts, and do reach the others'",
          "[cli]") {
  const TemporaryFolder folder;
  std::string text;
  for (std::string line : gradcast::split_words(committed("measured-shi2019-table2"), '\n')) {
    if (line.empty()) continue;
    if (line.find(",resnet-50,") != std::string::npos) {
      Words fields = gradcast::split_words(line, ',');
      fields[11] = std::to_string(2 * std::stod(fields[11]));  // iteration_seconds
      line = gradcast::join(fields, ",");
    }
    text += line + "\n";
  }
  const auto before = forecasts(table_2());
  const auto after = forecasts(without_each_model(folder.write("measured-doubled.csv", text),
                                                  {"--structures", "fit-shi2019-table2"}));
  REQUIRE(after.size() == 16);
  for (const auto& [name, seconds] : after) {
    CAPTURE(name);
    if (name.starts_with("resnet-50"))
      CHECK(seconds == before.at(name));
    else
      CHECK(std::abs(seconds / before.at(name) - 1) > 0.01);
  }
}

TEST_CASE("The same seed gives the same fit, byte by byte", "[cli]") {
  const Words words{"fit", "--leave-one-out", "model", "--claimed-only", "--starts",
                    "2",   "--format",        "csv"};
  const Ran one = gradcast_with(words);
  REQUIRE(one.exit_code == 0);
  CHECK(gradcast_with(words).out == one.out);
}

TEST_CASE("What is saved is read, and compare finds the fit's own forecasts in it", "[cli]") {
  const TemporaryFolder folder;
  const Json fit = fitted({"--measured", "measured-mg-wfbp-dense", "--structure",
                           "startup-overhead", "--starts", "0", "--save", folder.path.string()});
  std::string text = committed("measured-mg-wfbp-dense");
  for (const std::string cluster :
       {"hkbu-v100-10gbe", "hkbu-v100-ib56", "ddl-10gbe", "ddl-ib100"}) {
    const std::string path = (folder.path / "platforms" / (cluster + "-fitted.csv")).string();
    REQUIRE(std::filesystem::exists(path));
    for (std::size_t at = 0; (at = text.find("," + cluster + ",", at)) != std::string::npos;
         at += path.size())
      text.replace(at + 1, cluster.size(), path);
  }
  const Ran ran =
      gradcast_runs("compare", "--measured", folder.write("measured-again.csv", text).c_str(),
                    "--format", "json");
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const Json again = Json::parse(ran.out);
  REQUIRE(again["results"].size() == fit["results"].size());
  for (std::size_t i = 0; i < again["results"].size(); ++i) {
    CHECK(again["results"][i]["predicted_seconds"].get<double>() ==
          Approx(fit["results"][i]["predicted_seconds"].get<double>()).epsilon(1e-3));
    CHECK(again["results"][i]["interval_low_seconds"].is_number());  // fitted, so it has one
  }
}

TEST_CASE("a measured run is forecast by what its stack shares with others that were measured",
          "[cli]") {
  const Json document = Json::parse(gradcast_runs("compare", "--format", "json").out);
  for (const Json& row : document["results"]) {
    CHECK(row["interval_low_seconds"] <= row["predicted_seconds"]);
    CHECK(row["interval_high_seconds"] >= row["predicted_seconds"]);
    // The stack of these rows was estimated from them: it must not be held against them.
    CHECK(row["stack"] == "paper");
    CHECK(row["forecast_stack"] == "stack-paper-without-hkbu-v100-paper");
    CHECK(row["physics_seconds"] < row["predicted_seconds"]);
  }
}

TEST_CASE("fit says what is wrong in one line", "[cli]") {
  refuses({"fit", "--structure", "cal-each"}, 2,
          "--structure: unknown structure 'cal-each'; did you mean 'call-each'?");
  refuses({"fit", "--leave-one-out", "modle"}, 2,
          "--leave-one-out: 'modle' is not 'model', 'row', 'source', 'method' or 'trace'");
  refuses({"fit", "--starts", "abc"}, 2, "--starts: 'abc'");
  refuses({"fit", "--starts", "-1"}, 2, "--starts: '-1'");
  refuses({"fit", "--seed", "x"}, 2, "--seed: 'x'");
  refuses({"fit", "--max-error", "0"}, 2, "--max-error: '0'");
  refuses({"fit", "--measured", "measured-nothing"}, 2, "unknown measured file");
  refuses({"fit", "--structures", "fit-nothing"}, 2, "unknown fit structure");
}

TEST_CASE("fit complains of a file with its line", "[cli]") {
  const TemporaryFolder folder;
  const std::string bad =
      folder.write("fit-bad.csv",
                   "structure,errors,parameter,applies_to,start,least,most,source\n"
                   "one,relative,per_iteration_overhed,,5ms,0s,500ms,ours\n");
  refuses({"fit", "--structures", bad}, 3,
          "fit-bad.csv:2: column 'parameter': unknown parameter 'per_iteration_overhed'");
  std::string unknown = kTwoModels;
  unknown.replace(unknown.find("resnet-50"), 9, "resnet-51");
  refuses({"fit", "--measured", folder.write("measured-bad.csv", unknown)}, 3,
          "measured-bad.csv:3: unknown model 'resnet-51'");
}

TEST_CASE("One model alone cannot be left out", "[cli]") {
  const TemporaryFolder folder;
  std::string text = kTwoModels;
  text.erase(text.find("mine,resnet-50"));
  refuses({"fit", "--measured", folder.write("measured-one.csv", text), "--leave-one-out", "model"},
          3, "measured-one.csv: all runs are of one model, so no run is left to fit on");
}

TEST_CASE("Runs that the model claims none of are nothing to fit", "[cli]") {
  const TemporaryFolder folder;
  const std::string text =
      "source,model,batch,compute_seconds,cluster,nodes,gpus_per_node,compressor,density,fusion,"
      "overlap,iteration_seconds,outside\n"
      "mine,alexnet,128,0.08,10gbe-4x4,4,4,dense,1,merged,no,0.57,it rained\n"
      "mine,resnet-50,128,0.46,10gbe-4x4,4,4,dense,1,merged,no,0.7,it rained\n";
  const std::string measured = folder.write("measured-rain.csv", text);
  refuses({"fit", "--measured", measured}, 3, "nothing to fit");
}

TEST_CASE("Left out, the one model that is claimed is forecast by what was fitted on nothing",
          "[cli]") {
  const TemporaryFolder folder;
  const std::string text =
      "source,model,batch,compute_seconds,cluster,nodes,gpus_per_node,compressor,density,fusion,"
      "overlap,iteration_seconds,outside\n"
      "mine,alexnet,128,0.08,10gbe-4x4,4,4,dense,1,merged,no,0.57,\n"
      "mine,resnet-50,128,0.46,10gbe-4x4,4,4,dense,1,merged,no,0.7,it rained\n"
      "mine,vgg-16,128,1.12,10gbe-4x4,4,4,dense,1,merged,no,2.1,it rained\n";
  // Without the one claimed run none is left: all stays at its start, and the output says so.
  const Ran ran = gradcast_with(fit_with({"--measured", folder.write("measured-rain.csv", text),
                                          "--leave-one-out", "model", "--starts", "0"}));
  CAPTURE(ran.err);
  CHECK(ran.exit_code == 0);
  CHECK_THAT(ran.out, Contains("no run of dense in the fit"));
}

TEST_CASE("Each cluster has a NIC of its own, by default, and it is saved as its own", "[cli]") {
  // Two clusters that differ in their NICs alone, measured as they are forecast.
  const TemporaryFolder folder;
  const std::string cluster =
      content(std::string(GRADCAST_SOURCE_DIR) + "/platforms/10gbe-4x4.csv");
  folder.write("slow.csv", cluster);
  folder.write("fast.csv", cluster);
  const std::string head =
      "source,model,batch,compute_seconds,cluster,nodes,gpus_per_node,compressor,density,fusion,"
      "overlap,iteration_seconds";
  std::vector<std::pair<std::string, std::string>> runs;  // a row but its time, and its NIC
  for (const auto& [name, rate] : {std::pair{"slow.csv", "2Gbps"}, {"fast.csv", "4Gbps"}})
    for (const char* model : {"alexnet", "resnet-50", "vgg-16"})
      runs.emplace_back(
          std::string("mine,") + model + ",128,0.3," + name + ",4,4,dense,1,merged,no,", rate);
  std::string asked = head + ",nic_bandwidth\n";
  for (const auto& [row, rate] : runs) asked += row + "1," + rate + "\n";
  const Ran ran =
      gradcast_runs("compare", "--measured", folder.write("measured-asked.csv", asked).c_str(),
                    "--engine", "analytic", "--format", "json");
  CAPTURE(ran.err);
  REQUIRE(ran.exit_code == 0);
  const Json forecast = Json::parse(ran.out)["results"];
  std::string text = head + "\n";
  for (std::size_t i = 0; i < runs.size(); ++i)
    text += runs[i].first +
            gradcast::number_to_text(forecast[i]["predicted_seconds"].get<double>()) + "\n";
  const Json document = fitted({"--measured", folder.write("measured-two.csv", text), "--starts",
                                "0", "--engine", "analytic", "--save", folder.path.string()});
  const Json& parameters = document["summary"]["fit"]["parameters"];
  REQUIRE(parameters[0]["applies_to"] == "cluster=slow.csv");
  REQUIRE(parameters[1]["applies_to"] == "cluster=fast.csv");
  const auto rate = [&](std::size_t i) {
    return 8 * gradcast::parse_rate(parameters[i]["value"].get<std::string>()).value;
  };
  CHECK(rate(0) == Approx(2e9).epsilon(0.01));
  CHECK(rate(1) == Approx(4e9).epsilon(0.01));
  const auto saved = [&](const std::string& name) {
    const std::string file = content((folder.path / "platforms" / (name + "-fitted.csv")).string());
    const std::size_t at = file.find("\nnic_bandwidth,") + 15;
    return 8 * gradcast::parse_rate(file.substr(at, file.find(',', at) - at)).value;
  };
  CHECK(saved("slow") == Approx(2e9).epsilon(0.01));
  CHECK(saved("fast") == Approx(4e9).epsilon(0.01));
}

TEST_CASE("A place that cannot be made to save in is said before the search, with 1", "[cli]") {
  const TemporaryFolder folder;
  const std::string file = folder.write("taken", "a file, no folder\n");
  const Ran ran = gradcast_with(fit_with({"--measured", folder.write("measured-a.csv", kTwoModels),
                                          "--starts", "0", "--save", file + "/below"}));
  CHECK(ran.exit_code == 1);
  CHECK_THAT(ran.err, Contains("cannot make the folder '" + file + "/below'"));
  CHECK(ran.out.empty());
}

TEST_CASE("What no file can say is not saved, and said", "[cli]") {
  const TemporaryFolder folder;
  const Ran ran = gradcast_with(
      fit_with({"--structure", "dense-goodput", "--starts", "0", "--save", folder.path.string()}));
  CAPTURE(ran.err);
  CHECK(ran.exit_code == 2);
  CHECK_THAT(ran.err, Contains("a cluster file cannot say that"));
  CHECK(folder.files() == 0);
}

TEST_CASE("A row beyond --max-error gives 4 after the answer", "[cli]") {
  const Ran ran = gradcast_runs("fit", "--starts", "0", "--max-error", "1%");
  CHECK(ran.exit_code == 4);
  CHECK_THAT(ran.err, Contains("more than --max-error 1 %"));
  CHECK_THAT(ran.out, Contains("Fitted on 16 runs"));
}
