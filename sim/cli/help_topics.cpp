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
    {"exit-codes", "what each exit code means",
     R"(The numbers are stable: scripts may rely on them.

  0    success
  1    a failure of the program or of the machine, like a full disk
  2    usage: the command, a flag or the value of a flag is wrong
  3    bad input data: a file cannot be read, or its content is wrong
  4    the error of a comparison is above --max-error
  5    this machine or build lacks a device or an optional part
  130  interrupted by ctrl-C or SIGTERM; the line says what was kept

With every code but 0, one line on standard error says why, also with --quiet. With 1, 2, 3 and 5
no file that was there before is changed.
)"},
    {"units", "how sizes, rates, times and lists are written",
     R"(A value is a number and its unit, with at most one blank between them. Where a unit is needed, a
number without one is refused (except a time of 0), because tools differ in what they take it for.

  rate    10Gbps, 9.43 Gbps, 1.25GBps, 10Gb/s, 10Gbit/s, 1.25GB/s: b or bit is a bit, B a byte
  size    100B, 64MiB, 25MB
  time    26.6us, 2ms, 1s, 500ns
  share   5%

The prefixes of b, bit and B are k, M, G, T (powers of 1000) and Ki, Mi, Gi, Ti (powers of 1024).
Densities (0.001), counts (16) and seeds have no unit.

Commas separate the entries of a list. Two dots make a range, which includes both ends:

  --workers 1,16,256            three counts
  --workers 4..64               doubling: 4, 8, 16, 32, 64
  --densities 0.0001..0.01      steps 1, 2, 5 a decade: 0.0001, 0.0002, 0.0005, 0.001, ..., 0.01
)"},
    {"files", "the data files: where they are, and their columns",
     R"(Models, traces, cost tables, clusters, measured runs, events and fit structures are CSV files. A
flag takes a name of `gradcast list`, or the path of a file of your own. A word is a path if it has
a slash or ends in .csv or .xml. The project's own files are in $GRADCAST_DATA, else in
../share/gradcast beside the program, else in the source tree that the program was built from.

The format is RFC 4180 with a header. Lines that begin with # say where the figures come from. The
unit is in the column's name (_seconds, _bytes) or in the value (9.43Gbps).

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
  traces/devices.csv                  device,memory_bandwidth,launch,fp32,tf32,fp16,bf16,source
  platforms/NAME.csv                  property,value,source
  platforms/stack-NAME.csv            property,value,deviation,source
  compressors/NAME.csv                property,value,source

Two flags take vectors: theory --distribution and calibrate --distributions read NumPy's .npy
files, as np.save writes an array of one dimension, of float32 or float64.

simulate --counts reads what train --counts writes: iteration,worker,elements,density,wanted,sent.

The README.md files of models, traces and platforms say what each column means, and list optional
columns. An installed gradcast has them in share/doc/gradcast. traces/examples is a complete set of
files to copy and change.
)"},
    {"environment", "environment variables that gradcast reads",
     R"(  GRADCAST_DATA     the folder that holds models/, traces/, platforms/ and your compressors/
  GRADCAST_CONFIG   a config file, or none; see `gradcast help config`
  GRADCAST_<FLAG>   the value of a flag that is not given: GRADCAST_NIC_BANDWIDTH=25Gbps for
                    --nic-bandwidth; true or false for a flag without a value
  GRADCAST_PYTHON   the Python that has PyTorch, for `gradcast calibrate --baselines torch`
  XDG_CONFIG_HOME   the folder of gradcast/config.toml (default: ~/.config)
  NO_COLOR          if not empty: no colours
  CLICOLOR_FORCE    if neither empty nor 0: colours, also into a pipe; NO_COLOR wins
  TERM              if dumb: no colours

--color always or never overrides all of these. CSV, JSON and files of -o are never
coloured.
)"},
    {"config", "a file with values for flags",
     R"(A TOML file may hold values for flags that are not given. gradcast reads the file of --config, else
of $GRADCAST_CONFIG, else ~/.config/gradcast/config.toml if it exists. `--config none` reads no
file.

  # for every command that has such a flag
  cluster = "my-cluster.csv"
  overlap = "yes"

  [simulate]
  nodes = 8
  nic-bandwidth = "25Gbps"

  [calibrate]
  workers = [1, 16, 256]
  sweep = true

Keys are names of flags; tables are names of commands. The value of a flag is the first of these:
what is typed, the environment (GRADCAST_NODES=16), the command's own table, the keys above the
tables, the default. A path that begins with ./ lies beside the file; others are read as if typed.
A folder stands for the gradcast.toml in it: `--config my-cluster`, or `decide my-cluster`.

Values of the file count as given. The argv of a result lists them too, so that it says how to get
the same result without the file. `gradcast config COMMAND` shows where each value comes from.
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
      "`gradcast <command> --help` explains its flags. `gradcast help <topic>` explains:\n"
      "\n";
  for (const HelpTopic& topic : kTopics) text += line_of(topic.name, topic.summary);
  return text +
         "\n"
         "Exit codes: 0 ok, 1 failure, 2 usage, 3 bad input data, 4 comparison error above\n"
         "--max-error, 5 device or optional part missing, 130 interrupted.\n";
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
