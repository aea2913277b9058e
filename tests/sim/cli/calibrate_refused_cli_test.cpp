// Refusals of `gradcast calibrate`: wrong flags, files it may not write, a GPU that is not there.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "kernels/gpu.hpp"
#include "tests/run_program.hpp"
#include "tests/sim/cli/calibrating.hpp"

using Catch::Contains;
using namespace gradcast;
using namespace gradcast::calibrating;

TEST_CASE("a wrong calibrate command is answered with 2 and what would be right", "[cli]") {
  TemporaryFolder folder;
  const std::string out = (folder.path / "x.csv").string();
  const auto refused = [&](const std::vector<std::string>& more, const std::string& says) {
    std::vector<std::string> arguments{"calibrate"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    refuses(arguments, 2, says);
  };
  refused({"--device", "cpux"}, "--device: unknown device 'cpux'; did you mean 'cpu'?");
  refused({"--device", "gpu:x"}, "--device: 'x' is not a whole number");
  refused({"--models", "resnet50"},
          "--models: unknown model 'resnet50'; did you mean 'resnet-50'?");
  refused({"--compressors", "topk,gausian"},
          "unknown compressor 'gausian'; did you mean 'gaussian'?");
  refused({"--compressors", "dense"}, "'dense' encodes nothing");
  refused({"--distributions", "norml"}, "unknown distribution 'norml'; did you mean 'normal'?");
  refused({"--densities", "0.1..0.01"}, "--densities: the range '0.1..0.01' does not rise");
  refused({"--densities", "2"}, "--densities: '2' is not a density");
  refused({"--workers", "0"}, "--workers: '0' is not a count from 1 to 16384");
  refused({"--baselines", "tourch"}, "unknown baseline 'tourch'; did you mean 'torch'?");
  refused({"--seconds", "0"}, "--seconds: '0' is not a number of seconds above 0");
  refused({"--seed", "-1"}, "--seed: '-1' is not a number from 0");
  refused({"--sweep=false"}, "--sweep takes no value");
  refused({"--sweep=yes"}, "--sweep takes no value");
  refused({"--device", "gpu:"}, "--device: 'gpu:' lacks the number; write gpu:1");
  refused({"--densities", "0.01.."}, "--densities: the range '0.01..' has no end");
  refused({"--seconds", "1s"},
          "--seconds: '1s' has a unit, and this is a number of seconds; write '1'");
  refused({"--seconds", "500ms"}, "write '0.5'");
  refused({"--budget", "0min"}, "--budget: '0min' is no time above 0");
  refused({"--budget", "5"}, "--budget");
  refused({"--roofline", "--budget", "5min"}, "--budget does not go with --roofline");
  refused({"--per-layer", "none"}, "--per-layer: unknown model 'none'");
  refused({"--per-layer", "resnet-50,vgg-16"}, "--per-layer: 'resnet-50,vgg-16' is a list");
  refused({"--per-layer", "resnet-50", "--workers", "4"}, "--workers does not go with --per-layer");
  refused({"--roofline", "--workers", "4"}, "--workers does not go with --roofline");
  refused({"--models", "none"}, "leaves nothing to measure");
  refused({"--per-layer", "resnet-50", "--sweep"}, "--sweep does not go with --per-layer");
  refused({"--per-layer", "resnet-50", "-o", out}, "--output does not go with --per-layer");
  refused({"--roofline", "-o", out}, "--output does not go with --roofline");
  refused({"--trace", "x"}, "--trace belongs to --per-layer");
  refused({"--parameters", "7"}, "--parameters are one compressor's numbers");
  refused({"--parameters", "7", "--compressors", "topk"}, "'topk' takes no parameter");
  refused({"--parameters", "7", "--compressors", "threshold"}, "give those, as --densities");
  refused({"--parameters", "7,0", "--compressors", "qsgd"}, "0 is not one of compressor 'qsgd'");
  refused({"--output", "-"}, "'-' is not a file");
  CHECK(folder.files() == 0);
}

TEST_CASE("a file that is not this machine's table is never overwritten", "[cli]") {
  TemporaryFolder folder;
  const std::string model = small_model(folder);
  const auto refused = [&](const std::string& text, const std::string& says) {
    const std::string path = folder.write("other.csv", text);
    refuses(calibrate(model, path), 3, says);
    CHECK(content(path) == text);
  };
  refused("dear diary\n", "other.csv:1: ");
  refused(content(std::string(GRADCAST_SOURCE_DIR) + "/traces/cost-v100-pytorch-1.1.csv"),
          "other.csv: lacks the comment line '# device: ...'");

  const std::vector<std::string> less{"--compressors", "topk", "--workers", "1"};
  const std::string costs = (folder.path / "costs.csv").string();
  REQUIRE(gradcast_with(calibrate(model, costs, less)).exit_code == 0);
  std::vector<std::string> seeded = less;
  seeded.insert(seeded.end(), {"--seed", "2"});
  refuses(calibrate(model, costs, seeded), 3, "its seed is '1', here it is '2'; name another file");
  refuses(calibrate(model, costs, {"--compressors", "topk", "--workers", "1,2"}), 3,
          "has rows of 1 workers, asked for are 1,2");
  // More of the same machine goes into the same file.
  CHECK(gradcast_with(calibrate(model, costs, {"--compressors", "randk", "--workers", "1"}))
            .exit_code == 0);
  CHECK_THAT(content(costs), Contains("\n# then: gradcast calibrate "));
  CHECK(keys(costs).size() == 12);
}

TEST_CASE("what cannot hold the table is refused before anything is measured", "[cli]") {
  TemporaryFolder folder;
  const std::string model = small_model(folder);
  const std::string pipe = (folder.path / "pipe").string();
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::filesystem::create_symlink(pipe, folder.path / "link");
  for (const std::string& path : {pipe, (folder.path / "link").string(), std::string("/dev/zero")})
    refuses(calibrate(model, path), 2,
            "--output: '" + path + "' is not a regular file; the table grows in one");
  if (geteuid() == 0) return;  // root may write anywhere
  const auto closed = folder.path / "closed";
  std::filesystem::create_directory(closed);
  std::filesystem::permissions(
      closed, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  refuses(calibrate(model, (closed / "costs.csv").string()), 1,
          "cannot write " + (closed / "costs.csv").string() + ": Permission denied");
}

TEST_CASE("where there is no GPU, calibrate says how to do without", "[cli]") {
  if (!gpu_devices().empty()) return;
  for (const std::vector<std::string>& device :
       std::vector<std::vector<std::string>>{{}, {"--device", "gpu"}, {"--device", "gpu:3"}}) {
    std::vector<std::string> arguments{"calibrate"};
    arguments.insert(arguments.end(), device.begin(), device.end());
    refuses(arguments, 5, "--device cpu");
  }
}
