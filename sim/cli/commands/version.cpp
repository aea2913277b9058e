// `gradcast version`: the version, and what this build is made of.
#include "sim/answers/version.hpp"

#include <initializer_list>

#include "kernels/gpu.hpp"
#include "sim/answers/answer.hpp"
#include "sim/base/table.hpp"
#include "sim/base/text.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/simgrid_module.hpp"

namespace gradcast::commands {
namespace {

constexpr std::string_view kDirty = "-dirty";

std::string data_folder() {
  try {
    return DataFiles::standard().root().string();
  } catch (const Error&) {
    return "";
  }
}

/// null if the text is empty.
Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json make_row() {
  const std::string commit = build_commit();
  const bool dirty = commit.ends_with(kDirty);
  const SimgridVersion simgrid = simgrid_version();
  const CudaVersions cuda = cuda_versions();
  std::vector<std::string> engines;
  for (const Engine& engine : all_engines())
    if (engine.built()) engines.emplace_back(engine.name);
  std::vector<std::string> gpus;
  for (const GpuDevice& device : gpu_devices()) gpus.push_back(device.name);
  Json row;
  row["version"] = program_version();
  row["commit"] = text_or_null(dirty ? commit.substr(0, commit.size() - kDirty.size()) : commit);
  row["changed"] = commit.empty() ? Json() : Json(dirty ? "yes" : "no");
  row["compiler"] = GRADCAST_COMPILER;
  row["build_type"] = GRADCAST_BUILD_TYPE;
  row["engines"] = join(engines);
  row["simgrid_compiled_with"] = text_or_null(simgrid.compiled_with);
  row["simgrid_running"] = text_or_null(simgrid.running);
  row["cuda_toolkit"] = text_or_null(cuda.toolkit);
  row["cuda_driver"] = text_or_null(cuda.driver);
  row["gpus"] = text_or_null(join(gpus));
  row["openssl"] = text_or_null(GRADCAST_OPENSSL_VERSION);
  row["zlib"] = text_or_null(GRADCAST_ZLIB_VERSION);
  row["data"] = text_or_null(data_folder());
  return row;
}

}  // namespace

int version(int argc, const char* const* argv) {
  Flags flags("version",
              "Shows the version; with --verbose or in JSON also what this build is made of.",
              {"version", "version --verbose", "--version --format json"});
  flags.without_config();
  flags.add_switch("verbose", "commit, compiler, libraries, engines, data folder");
  if (!flags.parse(argc, argv)) return 0;
  const std::string line = "gradcast " + program_version() + "\n";
  if (flags.format() == Format::Table && !flags.given("verbose")) {
    flags.deliver(line);
    return 0;
  }
  const Json row = make_row();
  TextTable table{{"what", "which"}, {}};
  for (const auto& [name, value] : row.items()) {
    const std::string text = value_to_text(value);
    table.rows.push_back({name, text.empty() ? "none" : text});
  }
  deliver(flags, {}, "", {line + "\n" + to_text(table), {row}});
  return 0;
}

}  // namespace gradcast::commands
