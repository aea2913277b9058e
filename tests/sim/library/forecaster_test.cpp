// The library's C++ and C interface: same answers as the commands, one line for what is wrong, and
// nothing done to the process that calls it.
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "gradcast/gradcast.h"
#include "gradcast/gradcast.hpp"

using namespace gradcast;
using Catch::Contains;
using Catch::StartsWith;

namespace {

const Forecaster& forecaster() {
  static const Forecaster made{GRADCAST_SOURCE_DIR};
  return made;
}

const Settings kJob = {
    {"model", "alexnet"}, {"cluster", "10gbe-4x4"}, {"compressor", "topk"}, {"density", 0.01}};

Settings with(Settings settings, const std::string& name, const SettingValue& value) {
  settings.emplace_back(name, value);
  return settings;
}

/// The line and the code of the error that a question gets.
std::pair<std::string, int> error_of(const Settings& settings) {
  try {
    forecaster().forecast(settings);
  } catch (const InputError& error) {
    return {error.what(), error.code()};
  }
  return {"no error", 0};
}

}  // namespace

TEST_CASE("a forecast's parts add up to its seconds, within its interval", "[library]") {
  const Forecast forecast = forecaster().forecast(kJob);
  const double sum =
      std::accumulate(forecast.parts.begin(), forecast.parts.end(), 0.0,
                      [](double before, const auto& part) { return before + part.second; });
  CHECK(sum == Approx(forecast.seconds));
  CHECK(forecast.parts.size() == 8);
  REQUIRE(forecast.interval);
  CHECK(forecast.interval->low < forecast.seconds);
  CHECK(forecast.interval->high > forecast.seconds);
  CHECK_FALSE(forecast.verdict.empty());
  CHECK_THAT(forecast.assumptions, StartsWith("PyTorch DDP on NCCL"));
}

TEST_CASE("a forecast is the answer of the command, to the last letter", "[library]") {
  CHECK(forecaster().forecast(kJob).json ==
        forecaster().run("simulate", with(kJob, "format", "json")).text);
}

TEST_CASE("names may have '_' for '-', and values are texts, numbers, yes or no, or lists",
          "[library]") {
  const auto seconds = [](const std::string& name, const SettingValue& value) {
    return forecaster().forecast(with(kJob, name, value)).seconds;
  };
  CHECK(seconds("nic_bandwidth", "25Gbps") == seconds("nic-bandwidth", "25Gbps"));
  CHECK(seconds("nodes", 8) == seconds("nodes", "8"));
  CHECK(seconds("overlap", true) == seconds("overlap", "yes"));
  CHECK(SettingValue(std::vector<int>{1, 2, 4}).text() == "1,2,4");
  CHECK(SettingValue(0.001).text() == "0.001");
  const Table table = forecaster().sweep(with(kJob, "nodes", std::vector<int>{2, 4, 8}));
  CHECK(table.rows.size() == 3);
  CHECK(table.columns.size() == table.rows[2].size());
}

TEST_CASE("a wrong question is one line and a code", "[library]") {
  using Line = std::pair<std::string, int>;
  CHECK_THAT(error_of({{"model", "alexnett"}}).first, Contains("did you mean 'alexnet'?"));
  CHECK(error_of(with(kJob, "nodes", 0)) ==
        Line{"--nodes: '0' is not a count from 1 to 1000000", 2});
  CHECK(error_of(with(kJob, "nodez", 4)) ==
        Line{"unknown flag '--nodez'; did you mean '--nodes'?", 2});
  CHECK(error_of(with(kJob, "nodes=4", 4)) == Line{"unknown setting 'nodes=4'", 2});
  CHECK(error_of(with(kJob, "", 4)) == Line{"unknown setting ''", 2});
  CHECK(error_of(with(kJob, "quiet", "maybe")) == Line{"--quiet: 'maybe' is not yes or no", 2});
  CHECK(error_of(with(kJob, "format", "csv")).second == 2);
  CHECK(error_of(with(kJob, "trace", "./nowhere.csv")).second == 3);
  CHECK(error_of(with(kJob, "model", std::string("a\0b", 3))).second == 2);
  CHECK_THROWS_WITH(forecaster().run("simulat", {}),
                    Contains("unknown command 'simulat'; did you mean 'simulate'?"));
  CHECK_THROWS_AS(Forecaster("/nowhere"), InputError);
}

TEST_CASE("a text stands for a path, and one path for one text", "[library]") {
  const TextInput model{
      "mine/two.csv",
      "layer,tensor,elements,forward_flops\na,a.w,1000000,1000\nb,b.w,500000,500\n"};
  const TextInput trace{"mine/two-trace.csv",
                        "# device: CPU\n# batch: 4\ntensor,forward_seconds,backward_seconds\n"
                        "a.w,0.01,0.02\nb.w,0.01,0.02\n"};
  forecaster().add(model);
  forecaster().add(model);
  forecaster().add(trace);
  const Forecast forecast = forecaster().forecast({{"model", model.name},
                                                   {"trace", trace.name},
                                                   {"cluster", "10gbe-4x4"},
                                                   {"preset", "paper"},
                                                   {"nodes", 1},
                                                   {"gpus-per-node", 1}});
  CHECK(forecast.seconds == Approx(0.06));  // 0.01 + 0.01 forward, 0.02 + 0.02 backward
  CHECK_THROWS_WITH(forecaster().add({model.name, "other"}), Contains("already names another"));
  CHECK_THROWS_WITH(forecaster().add({"two", "other"}), Contains("end it in '.csv'"));
}

TEST_CASE("threads that share a forecaster get what one thread gets", "[library]") {
  const std::vector<std::string> models = {"alexnet", "vgg-16", "resnet-50", "bert-base"};
  const Forecaster shared{GRADCAST_SOURCE_DIR};  // that has read nothing yet
  const auto answers = [&] {
    std::vector<std::string> all;
    for (const std::string& model : models)
      all.push_back(shared.forecast({{"model", model}, {"cluster", "dgx-a100"}}).json);
    return all;
  };
  std::vector<std::vector<std::string>> by_thread(8);
  std::vector<std::thread> threads;
  for (auto& its : by_thread) threads.emplace_back([&] { its = answers(); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& its : by_thread) CHECK(its == answers());
}

// Every tenth question is a training; the others are collectives, each of another size. Each thread
// begins elsewhere, so that they read and parse the same files at once. `cmake --preset threads`
// builds it for a race detector.
TEST_CASE("8 threads that ask 10,000 forecasts of one forecaster get what one thread gets",
          "[library][threads][slow]") {
  constexpr std::size_t kThreads = 8;
  constexpr std::size_t kEach = 10000 / kThreads;
  const std::vector<std::string> clusters = {"10gbe-4x4", "25gbe", "ib-100g", "dgx-a100",
                                             "frontier"};
  const std::vector<std::string> compressors = {"dense", "topk", "powersgd", "signsgd", "qsgd"};
  std::vector<Settings> questions;
  for (std::size_t i = 0; i < kEach; ++i) {
    Settings question = {{"cluster", clusters[i / 10 % 5]}, {"nodes", 2}};
    if (i % 10 == 0)
      question.insert(question.end(),
                      {{"model", "alexnet"}, {"compressor", compressors[i / 50 % 5]}});
    else
      question.emplace_back("payload", std::to_string(i) + "KiB");
    questions.push_back(question);
  }

  const Forecaster shared{GRADCAST_SOURCE_DIR};  // that has read nothing yet
  std::vector<std::vector<std::string>> by_thread(kThreads, std::vector<std::string>(kEach));
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (std::size_t i = 0; i < kEach; ++i) {
        const std::size_t which = (thread * 157 + i) % kEach;
        by_thread[thread][which] = shared.forecast(questions[which]).json;
      }
    });
  for (std::thread& thread : threads) thread.join();

  std::vector<std::string> alone;
  for (const Settings& question : questions) alone.push_back(forecaster().forecast(question).json);
  for (const auto& its : by_thread) CHECK(its == alone);
}

TEST_CASE("a call is stopped by its listener, who hears of its progress", "[library]") {
  const Settings many = with({{"model", "alexnet"}, {"cluster", "10gbe-4x4"}, {"jobs", 1}}, "nodes",
                             std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8});
  std::size_t told = 0;
  Listener listener;
  listener.progress = [&](std::size_t done, std::size_t all, const std::string& what) {
    ++told;
    CHECK(done < all);
    CHECK_THAT(what, Contains("alexnet"));
  };
  forecaster().sweep(many, listener);
  CHECK(told > 0);
  listener.stopped = [] { return true; };
  CHECK_THROWS_AS(forecaster().sweep(many, listener), Stopped);
}

TEST_CASE("environment and signal handlers are neither read nor changed", "[library]") {
  const double before = forecaster().forecast(kJob).seconds;
  ::setenv("GRADCAST_NIC_BANDWIDTH", "1Gbps", 1);
  ::setenv("GRADCAST_CONFIG", "/nowhere.toml", 1);
  CHECK(forecaster().forecast(kJob).seconds == before);
  ::unsetenv("GRADCAST_NIC_BANDWIDTH");
  ::setenv("GRADCAST_CONFIG", "none", 1);
  const auto handler = [](int) {};
  std::signal(SIGINT, handler);
  forecaster().sweep(kJob);
  for (const char* command : {"train", "calibrate"}) forecaster().run(command, {{"help", true}});
  CHECK(std::signal(SIGINT, SIG_DFL) == static_cast<void (*)(int)>(handler));
}

TEST_CASE("what a program alone can do is refused in one line", "[library]") {
  CHECK_THROWS_WITH(forecaster().run("sweep", with(kJob, "emit-slurm", ".")),
                    Contains("ask the program"));
}

TEST_CASE("the C interface returns the program's codes, and tells one line", "[library]") {
  std::string line;
  std::string text;
  gradcast_listener listener{};
  struct Both {
    std::string* line;
    std::string* text;
  } both{&line, &text};
  listener.user = &both;
  listener.error = [](void* user, const char* said) { *static_cast<Both*>(user)->line = said; };
  listener.answer = [](void* user, const char* said, size_t bytes) {
    static_cast<Both*>(user)->text->append(said, bytes);
  };
  gradcast_forecaster* opened = gradcast_open(GRADCAST_SOURCE_DIR, &listener);
  REQUIRE(opened != nullptr);
  const char* settings[] = {"model", "alexnet", "nodes", "2"};
  CHECK(gradcast_run(opened, "simulate", settings, 2, nullptr, 0, &listener) == 0);
  CHECK_THAT(text, Contains("iteration"));
  CHECK(line.empty());
  const char* wrong[] = {"model", "alexnet", "nodes", "none"};
  CHECK(gradcast_run(opened, "simulate", wrong, 2, nullptr, 0, &listener) == 2);
  CHECK(line == "--nodes: 'none' is not a whole number, like '16'");
  CHECK(gradcast_run(opened, "simulate", wrong, 2, nullptr, 0, nullptr) == 2);
  CHECK(gradcast_add(opened, "two", "x", 1, &listener) == 2);
  gradcast_close(opened);
  CHECK(gradcast_open("/nowhere", &listener) == nullptr);
  CHECK_THAT(line, Contains("/nowhere"));
  CHECK(std::string(gradcast_version()) == version());
}
