#include "sim/cli/help_topics.hpp"

#include <algorithm>
#include <vector>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/cli/command.hpp"
#include "sim/options/command_info.hpp"

namespace gradcast {
namespace {

constexpr HelpTopic kTopics[] = {
    {"exit-codes", "what the program answers to a script",
     R"(The numbers are stable: scripts may rely on them.

  0    it went well
  1    our failure, or the machine's, like a full disk
  2    usage: a wrong command, flag or value of a flag
  3    bad input data: a file that cannot be read, or does not say what it should
  4    a comparison beyond --max-error
  5    a device or an optional part that this machine or build lacks
  130  interrupted by ctrl-C; what was done is kept

Whatever is not 0 comes with one line on standard error, also with --quiet. With 1, 2, 3 and 5
no file that was there before is changed.
)"},
    {"units", "how sizes, rates, times and lists are written",
     R"(A number and its unit, with one blank between them at most. A number without a unit is refused
where one is due (but for a time of 0), for tools differ in what they take it for.

  rate    10Gbps, 9.43 Gbps, 1.25GBps, 10Gb/s, 10Gbit/s, 1.25GB/s: b or bit is a bit, B a byte
  size    100B, 64MiB, 25MB
  time    26.6us, 2ms, 1s, 500ns
  share   5%

Before b, bit and B stand k, M, G, T (thousands) or Ki, Mi, Gi, Ti (1024s). Densities (0.001),
counts (16) and seeds have no unit.

A list is separated by commas. Two dots make a range, ends included:

  --workers 1,16,256            three counts
  --workers 4..64               doubling: 4, 8, 16, 32, 64
  --densities 0.0001..0.01      1-2-5 a decade: 0.0001, 0.0002, 0.0005, 0.001, ..., 0.01
)"},
    {"files", "the data files: where they are, and their columns",
     R"(Models, traces, cost tables, clusters, measured runs, events and fit structures are CSV files. A
flag takes a name of `gradcast list`, or the path of a file of your own: anything with a slash, or
that ends in .csv or .xml. The project's own are found in $GRADCAST_DATA, else in
../share/gradcast beside the program, else in the source tree that it was built from.

Files are RFC 4180 with a header. Lines that begin with # say where figures come from. Units are
in the column's name (_seconds, _bytes) or in the value (9.43Gbps).

  models/NAME.csv                     layer,tensor,elements,forward_flops
  traces/iteration-NAME-DEVICE.csv    tensor,forward_seconds,backward_seconds
  traces/cost-DEVICE.csv              compressor,mode,implementation,tensors,elements,density,
                                      workers,distribution,selected,encode_seconds,
                                      encode_p95_seconds,decode_seconds,decode_p95_seconds,
                                      samples,evidence
  traces/measured-SOURCE.csv          source,model,batch,compute_seconds,cluster,nodes,
                                      gpus_per_node,compressor,density,fusion,overlap,
                                      iteration_seconds
  traces/fit-SOURCE.csv               structure,errors,parameter,applies_to,start,least,most,
                                      source
  traces/events-NAME.csv              event,target,at,lasting,value
  traces/devices.csv                  device,memory_bandwidth,launch,source
  platforms/NAME.csv                  property,value,source

What each column means, and columns that may be there too: the README.md of models, traces and
platforms, which an installed gradcast has in share/doc/gradcast. traces/examples is a whole set to
copy and change.
)"},
    {"environment", "variables that are heeded",
     R"(  GRADCAST_DATA     the folder that holds models/, traces/ and platforms/
  GRADCAST_CONFIG   a config file, or none; see `gradcast help config`
  GRADCAST_<FLAG>   a value for a flag that is not given: GRADCAST_NIC_BANDWIDTH=25Gbps for
                    --nic-bandwidth, true or false for a flag without a value
  GRADCAST_PYTHON   the Python that has PyTorch, for `gradcast calibrate --baselines torch`
  XDG_CONFIG_HOME   where gradcast/config.toml is looked for (default: ~/.config)
  NO_COLOR          not empty: no colours
  CLICOLOR_FORCE    neither empty nor 0: colours, also into a pipe; NO_COLOR wins
  TERM              dumb: no colours

--color always and --color never win over all of these. Data in CSV and JSON and files of -o are
never coloured.
)"},
    {"config", "a file with values for flags",
     R"(A TOML file may say what flags are when they are not given. It is the one of --config, else of
$GRADCAST_CONFIG, else ~/.config/gradcast/config.toml where there is one. `--config none` reads
none.

  # for every command that has such a flag
  cluster = "my-cluster.csv"
  overlap = "yes"

  [simulate]
  nodes = 8
  nic-bandwidth = "25Gbps"

  [calibrate]
  workers = [1, 16, 256]
  sweep = true

Keys are the names of flags, tables those of commands. What is typed wins, then the environment
(GRADCAST_NODES=16), then the command's own table, then what stands above the tables, then the
default. Paths are taken as if they were typed.

Such values count as given. A result's argv names them with the others, so that it tells how to
get the same result without the file. `gradcast config COMMAND` shows where each value comes from.
)"},
};

std::string line_of(std::string_view name, std::string_view summary) {
  std::string text(name);
  text.resize(std::max<std::size_t>(text.size() + 1, 13), ' ');
  return "  " + text + std::string(summary) + "\n";
}

}  // namespace

std::span<const HelpTopic> all_help_topics() { return kTopics; }

const HelpTopic* find_help_topic(std::string_view name) {
  const auto* found = std::find_if(std::begin(kTopics), std::end(kTopics),
                                   [&](const HelpTopic& topic) { return topic.name == name; });
  return found == std::end(kTopics) ? nullptr : found;
}

std::string help_overview() {
  std::string text =
      "gradcast forecasts how synchronous data-parallel SGD scales on a cluster,\n"
      "with and without gradient compression.\n"
      "\n"
      "Examples:\n"
      "  gradcast compare                                        the paper's Table 2, forecast\n"
      "  gradcast simulate --model resnet-50 --compressor topk   one iteration, in parts\n"
      "\n"
      "Usage: gradcast <command> [flags]\n"
      "\n";
  for (const Command& command : all_commands()) text += line_of(command.name, command.summary);
  text +=
      "\n"
      "`gradcast <command> --help` tells its flags. `gradcast help <topic>` tells:\n"
      "\n";
  for (const HelpTopic& topic : kTopics) text += line_of(topic.name, topic.summary);
  return text +
         "\n"
         "Exit codes: 0 ok, 1 our failure, 2 usage, 3 bad input data, 4 comparison beyond\n"
         "--max-error, 5 needed device or feature missing, 130 interrupted.\n";
}

std::string help_of(const std::string& word) {
  std::vector<std::string> known;
  std::string text;
  for (const Command& command : all_commands()) {
    if (command.name == word) text = describe(command).help;
    known.emplace_back(command.name);
  }
  // `config` is both.
  if (const HelpTopic* topic = find_help_topic(word))
    text += (text.empty() ? "" : "\n") + std::string(topic->text);
  if (!text.empty()) return text;
  for (const HelpTopic& topic : kTopics) known.emplace_back(topic.name);
  throw UsageError("there is no command and no topic '" + word + "'" + did_you_mean(word, known) +
                   " (known: " + join(known) + ")");
}

}  // namespace gradcast
