// room: options
// words: sim/options/request_flags.cpp sim/options/flags.cpp sim/inputs/cluster_properties.cpp
// words: kernels/compressors.def sim/network/collectives.def
// longest: 512
// Words of a command line, a line each; of a request that they make also the plan.

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/options/request_flags.hpp"
#include "sim/plan/plan.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

/// Only small runs that name no file may be planned: paths may lead anywhere.
bool may_be_planned(const Request& request, DataFiles& files) {
  for (const std::string& name : {request.model, request.trace, request.costs, request.cluster,
                                  request.events, request.costs_device})
    if (is_path(name)) return false;
  return cluster_of(request, files).ranks() <= 64;
}

void read(const std::string& bytes) {
  std::vector<std::string> words{"simulate"};
  for (const std::string& word : split_words(text_file(bytes, "words").content, '\n'))
    words.push_back(word);
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  Flags flags("simulate", "", {});
  add_request_flags(flags);
  flags.without_config();
  try {
    if (!flags.parse(static_cast<int>(argv.size()), argv.data())) return;
  } catch (const Error& error) {
    if (error.code() == ExitCode::Failure) return;  // -o where nothing can be written
    throw;
  }
  Request request = read_request(flags);
  // The default table has thousands of rows.
  if (!flags.given("costs")) request.costs = "cost-p102-100-pytorch";
  static DataFiles files = DataFiles::standard();
  if (!may_be_planned(request, files)) return;
  const Plan plan = make_plan(make_scenario(request, files));
  require(!plan.steps.empty(), "an iteration has steps");
}

const Harness harness("command_line", read);

}  // namespace
}  // namespace gradcast::fuzz
