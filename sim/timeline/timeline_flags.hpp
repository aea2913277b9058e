// The flags that write a run as a trace, for trace viewers: ours, or one that SimGrid itself
// writes.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/base/temporary_file.hpp"
#include "sim/options/engine_flags.hpp"
#include "sim/options/flags.hpp"
#include "sim/plan/scenario.hpp"
#include "sim/timeline/rank_choice.hpp"

namespace gradcast {

class PajeFile {
 public:
  /// Throws Error (1) where such a file cannot be written. Without keep() it is removed.
  explicit PajeFile(const std::filesystem::path& named);

  /// The path to which SimGrid must write.
  std::filesystem::path temporary() const { return file_.name(); }

  /// Gives the file its final name. Throws Error (1) if SimGrid did not write it to the end, which
  /// SimGrid itself does not report.
  void keep();

 private:
  TemporaryFile file_;
};

void add_timeline_flags(Flags& flags);

struct TimelineChoice {
  std::filesystem::path timeline;  // "" for none
  std::filesystem::path paje;      // "" for none
  RankChoice ranks;
};

/// Throws UsageError for invalid names and ranks, and for a Paje trace of an engine that is not
/// SimGrid's; MissingError if this build lacks the zlib or SimGrid that it needs.
TimelineChoice read_timeline(const Flags& flags, const Engine& engine);

/// The run to show, and the question behind it.
struct TimelineRun {
  const Scenario& scenario;
  const Plan& plan;
  const Engine& engine;
  const NoiseChoice& noise;
  const std::vector<InputFile>& inputs;
  const Json& seed;
};

/// Runs it again, now with recording (the first of several replicas), and writes the files that
/// were asked for, each whole or not at all. Writes none for a run that never ends. Returns what to
/// tell the user. Throws UsageError for ranks that do not exist.
std::vector<std::string> write_timeline(const Flags& flags, const TimelineChoice& choice,
                                        const TimelineRun& run);

}  // namespace gradcast
