// SimGrid takes longer to load than most commands run: the program opens it when it is used.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "sim/engine/engine.hpp"
#include "tests/run_program.hpp"
#include "tests/temporary_folder.hpp"

using Catch::Contains;

namespace {

bool has_simgrid() { return gradcast::find_engine("simgrid")->built(); }

/// The libraries, of those named here, that the dynamic linker says it loads.
std::string loaded_by(const std::string& arguments) {
  const Ran ran = run_process({"sh", "-c", "LD_DEBUG=files '" GRADCAST_PROGRAM "' " + arguments});
  std::string loaded;
  for (const char* library : {"libstdc++.so", "libgradcast_simgrid.so", "libsimgrid.so"})
    if (ran.err.find(library) != std::string::npos) loaded += std::string(library) + " ";
  return loaded;
}

}  // namespace

TEST_CASE("SimGrid is loaded by what uses it, and by nothing else", "[cli]") {
  CHECK(loaded_by("version") == "libstdc++.so ");
  CHECK(loaded_by("list") == "libstdc++.so ");
  CHECK(loaded_by("simulate --model alexnet --engine analytic") == "libstdc++.so ");
  CHECK(loaded_by("simulate --model alexnet") == "libstdc++.so ");
  if (!has_simgrid()) return;
  const std::string all = "libstdc++.so libgradcast_simgrid.so libsimgrid.so ";
  CHECK(loaded_by("version --verbose") == all);
  CHECK(loaded_by("simulate --model alexnet --engine simgrid") == all);
}

TEST_CASE("a program without its SimGrid module does all else, and says what is missing", "[cli]") {
  if (!has_simgrid()) return;
  const TemporaryFolder folder;
  const std::string alone = (folder.path / "gradcast").string();
  std::filesystem::copy_file(GRADCAST_PROGRAM, alone);
  const Ran refused = run_process({alone, "simulate", "--model", "alexnet", "--engine", "simgrid"});
  CHECK(refused.exit_code == 5);
  CHECK_THAT(refused.err, Catch::StartsWith("gradcast: libgradcast_simgrid.so") &&
                              Contains("is in none of " + folder.path.string() + ", ") &&
                              Contains("choose another --engine"));
  CHECK(std::count(refused.err.begin(), refused.err.end(), '\n') == 1);
  CHECK(refused.out.empty());
  const std::string platform = folder.write("p.xml", R"(<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="10Gbps" lat="20us"/>
</platform>
)");
  const Ran unread = run_process({alone, "simulate", "--model", "alexnet", "--cluster", platform});
  CHECK(unread.exit_code == 5);
  CHECK_THAT(unread.err,
             Contains("p.xml: SimGrid reads platform files, and libgradcast_simgrid.so"));
  CHECK(run_process({alone, "simulate", "--model", "alexnet", "--engine", "analytic", "-q"})
            .exit_code == 0);
  const Ran version = run_process({alone, "version", "--verbose"});
  CHECK(version.exit_code == 0);
  CHECK_THAT(version.out, Catch::Matches("(.|\n)*simgrid_running +none\n(.|\n)*"));
}

TEST_CASE("a SimGrid module that is none is missing too, and why is said", "[cli]") {
  if (!has_simgrid()) return;
  const TemporaryFolder folder;
  const std::string alone = (folder.path / "gradcast").string();
  std::filesystem::copy_file(GRADCAST_PROGRAM, alone);
  folder.write("libgradcast_simgrid.so", "no library");
  const Ran refused = run_process({alone, "simulate", "--model", "alexnet", "--engine", "simgrid"});
  CHECK(refused.exit_code == 5);
  CHECK_THAT(refused.err, Catch::StartsWith("gradcast: SimGrid cannot be opened: ") &&
                              Contains("libgradcast_simgrid.so: file too short"));
}
