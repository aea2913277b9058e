// The Python process that times torch's own compressors, played by a shell.
#include "sim/calibration/torch_child.hpp"

#include <catch2/catch.hpp>

#include "tests/sim/calibration/toy_point.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;
using toy::bench_point;

namespace {

/// A child that greets and then runs `loop` for each line it reads.
std::vector<std::string> child(
    const TemporaryFolder& folder, const std::string& loop,
    const std::string& greeting = R"({"torch": "9.9", "cuda": "13.0"})") {
  return {"sh", folder.write("child.sh", "echo '" + greeting + "'\nwhile read -r line; do " + loop +
                                             "; done\n")};
}

bool never() { return false; }

}  // namespace

TEST_CASE("the torch child is asked and answers, line by line") {
  TemporaryFolder folder;
  TorchChild torch(child(folder, R"(echo "$line" > )" + (folder.path / "asked").string() +
                                     R"(; echo '{"encode": [0.5, 0.6, 20], "decode": [[0.1, 0.2, 3],
 [0.3, 0.4, 5]], "selected": 12, "recall": 0.5, "variant": "as-launched"}' | tr -d '\n'; echo)"),
                   never, Seconds{20});
  CHECK(torch.version() == "9.9, CUDA 13.0");
  BenchPoint point = bench_point("topk", {1200});
  point.seed = 7;
  const BenchResult result = torch.measure(point, Seconds{0.25});
  CHECK(result.encode.median_seconds == 0.5);
  CHECK(result.decode[1].p95_seconds == 0.4);
  CHECK(result.decode[0].samples == 3);
  CHECK(result.selected == 12);
  CHECK(result.recall == 0.5);
  CHECK(result.path == "as-launched");
  const std::string question = read_text_file(folder.path / "asked").content;
  for (const char* said :
       {R"("compressor":"topk")", R"("mode":"")", R"("tensors":[1200])", R"("wanted":[12])",
        R"("distribution":"normal")", R"("workers":[1,4])", R"("seconds":0.25)", R"("seed":7)"})
    CHECK_THAT(question, Contains(said));
}

TEST_CASE("a torch child that refuses, dies, hangs or talks nonsense stops nothing") {
  TemporaryFolder folder;
  const BenchPoint point = bench_point("topk", {1200});
  const auto measure = [&](const std::string& loop) {
    TorchChild torch(child(folder, loop), never, Seconds{0.5});
    torch.measure(point, Seconds{0.1});
  };
  CHECK_THROWS_AS(measure(R"(echo '{"error": "out of memory"}')"), TorchRefused);
  CHECK_THROWS_WITH(measure("echo 'Segmentation fault' >&2; exit 1"),
                    Contains("it ended (Segmentation fault)"));
  CHECK_THROWS_WITH(measure("sleep 60"), Contains("did not answer within"));
  CHECK_THROWS_WITH(measure("echo hello"), Contains("not what it should be"));
  CHECK_THROWS_WITH(measure(R"(echo '{"encode": [1, 1, 1]}')"), Contains("not what it should be"));
  CHECK_THROWS_WITH(measure("kill -9 $$"), Contains("it ended"));
  const auto start = [&](const std::vector<std::string>& command) {
    const TorchChild torch(command, never, Seconds{0.5});
  };
  CHECK_THROWS_WITH(start({"/no/such/python"}), Contains("/no/such/python: No such file"));
  CHECK_THROWS_WITH(start({"true"}), Contains("it ended"));
  CHECK_THROWS_WITH(start(child(folder, "true", R"({"error": "no torch here"})")),
                    Contains("no torch here"));
  CHECK_THROWS_WITH(start(child(folder, "true", "hello")), Contains("first line"));
  CHECK_THROWS_AS(TorchChild({"sleep", "60"}, [] { return true; }), BenchInterrupted);
}
