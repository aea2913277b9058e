#include "sim/forecast/measured_like.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <tuple>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "sim/forecast/preset.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;

namespace {

// Every member of a Request, in its order. One that lacks here does not compile: the structured
// bindings below need all of them.
#define GRADCAST_NAMES_OF_A_REQUEST                                                               \
  model, trace, costs, costs_device, costs_of, cluster, changed, stack, events, compressor, mode, \
      collective, nccl, folder, costs_folder
#define GRADCAST_VALUES_OF_A_REQUEST                                                               \
  parameter, batch, compute, precision, optimizer, broadcast_buffers, network_streams, value_type, \
      wire_bytes_per_element, wire_messages, payload, concurrent_jobs, today, stack_given,         \
      others_trace, shares_by_flops, best_schedule, fusion_given, overlap_given, sharding_given
#define GRADCAST_CHOICES                                                                       \
  accumulation, synchronise, sharding, recompute, framework_in_compute, gradient_copies,       \
      speed_derived, implementation, density, sent_share, selection, extrapolate, compressing, \
      count_spread, seed, fusion, overlap, pipeline, queue, encode_stream, encode_slowdown
#define GRADCAST_REQUEST_MEMBERS \
  GRADCAST_NAMES_OF_A_REQUEST, GRADCAST_VALUES_OF_A_REQUEST, GRADCAST_CHOICES
#define GRADCAST_AS_TEXT(...) #__VA_ARGS__
#define GRADCAST_NAMES(...) GRADCAST_AS_TEXT(__VA_ARGS__)

auto members(Request& request) {
  auto& [GRADCAST_NAMES_OF_A_REQUEST] = static_cast<RequestNames&>(request);
  auto& [GRADCAST_VALUES_OF_A_REQUEST] = static_cast<RequestValues&>(request);
  auto& [GRADCAST_CHOICES] = static_cast<RunChoices&>(request);
  return std::tie(GRADCAST_REQUEST_MEMBERS);
}

/// True of a Request that has a member beside those of its three bases.
template <class T>
concept HasMembersOfItsOwn = requires {
  T{{}, {}, {}, {}};
};
static_assert(!HasMembersOfItsOwn<Request>, "put the member into one of the request's bases");

constexpr std::size_t kMembers = std::tuple_size_v<decltype(members(std::declval<Request&>()))>;

std::vector<std::string> member_names() {
  std::string text = GRADCAST_NAMES(GRADCAST_REQUEST_MEMBERS);
  std::erase(text, ' ');
  return split_words(text, ',');
}

/// A request that differs in every member from those of the rows below.
Request all_changed() {
  Request other;
  other.model = "resnet-50";
  other.trace = "iteration-resnet-50-v100";
  other.costs = "cost-p102-100-pytorch-fitted";
  other.costs_device = "t4";
  other.costs_of = "p100";
  other.cluster = "10gbe";
  other.today = true;
  other.speed_derived = true;
  other.others_trace = true;
  other.shares_by_flops = true;
  other.stack = "stack-ddp-nccl";
  other.stack_given = true;
  other.compressor = "gaussian";
  other.mode = "paper";
  other.implementation = "gradcast-cuda";
  other.collective = "auto";
  other.nccl = "2.18";
  other.density = 0.01;
  other.parameter = 2;
  other.sent_share = 0.5;
  other.batch = 64;
  other.accumulation = 2;
  other.synchronise = Synchronise::Every;
  other.sharding.kind = Sharding::Zero1;
  other.precision.gradient = NumberType::Bf16;
  other.optimizer = Optimizer::Adam;
  other.recompute = Recompute::Full;
  other.framework_in_compute = true;
  other.gradient_copies = GradientCopies::View;
  other.broadcast_buffers = true;
  other.fusion = parse_fusion("25MiB");
  other.best_schedule = true;
  other.fusion_given = other.overlap_given = other.sharding_given = true;
  other.selection = SelectionScope::PerTensor;
  other.overlap = true;
  other.pipeline = true;
  other.value_type = ValueType::Fp16;
  other.wire_bytes_per_element = 64;
  other.wire_messages = 1;
  other.queue = Queue::Priority;
  other.encode_stream = EncodeStream::Side;
  other.encode_slowdown = 0.1;
  other.compressing = false;
  other.network_streams = 2;
  other.count_spread = 0.1;
  other.seed = 2;
  other.events = "events.csv";
  other.concurrent_jobs = 2;
  other.payload = Bytes{1 << 20};
  other.compute = Seconds{1};
  other.changed = {{"nodes", "8"}};
  other.folder = "elsewhere";
  other.costs_folder = "elsewhere";
  return other;
}

/// Asks as `simulate` does. If the request cannot be run, `base` is.
std::optional<MeasuredRun> measured(const Request& request, const Request& base) {
  DataFiles files(GRADCAST_SOURCE_DIR);
  const auto asked = [&](const Request& run) {
    const Scenario scenario = make_scenario(run, files);
    return measured_like(request, scenario, make_plan(scenario), files);
  };
  try {
    return asked(request);
  } catch (const Error&) {
  } catch (const ValueError&) {
  }
  return asked(base);
}

/// The names of the members that may be changed without the request being another run.
template <std::size_t... I>
std::set<std::string> put_aside(Request base, std::index_sequence<I...> all) {
  const std::vector<std::string> names = member_names();
  REQUIRE(names.size() == all.size());
  Request other = all_changed();
  // A row allows costs beyond the table.
  other.extrapolate = !base.extrapolate;
  // Other rows of the file are other runs.
  const std::size_t line = measured(base, base).value().line;
  std::set<std::string> aside;
  const auto change = [&](const std::string& name, auto& member, const auto& value,
                          Request& changed) {
    INFO(name);
    CHECK_FALSE(member == value);  // or nothing would be changed
    member = value;
    const std::optional<MeasuredRun> found = measured(changed, base);
    if (found && found->line == line) aside.insert(name);
  };
  (
      [&] {
        Request changed = base;
        change(names[I], std::get<I>(members(changed)), std::get<I>(members(other)), changed);
      }(),
      ...);
  return aside;
}

/// The request of the row of Table 2 that has this compressor.
Request row_of_table2(const std::string& compressor) {
  DataFiles files(GRADCAST_SOURCE_DIR);
  for (const MeasuredRun& run :
       load_measured_runs(files.read(kMeasuredRuns, "measured-shi2019-table2")).runs)
    if (run.model == "vgg-16" && run.compressor == compressor) {
      Request request = request_of(run, files);
      request.stack.clear();  // as a user leaves it
      return request;
    }
  throw std::logic_error("no such row");
}

const std::set<std::string> kNeverCompared{
    "extrapolate",     "fusion_given",   "overlap_given", "seed",  "speed_derived", "others_trace",
    "shares_by_flops", "sharding_given", "stack_given",   "today", "folder",        "costs_folder"};

}  // namespace

TEST_CASE("a request that differs from a measured run in any choice is not called measured",
          "[measured_like]") {
  const Request row = row_of_table2("topk");
  REQUIRE(measured(row, row));
  CHECK(put_aside(row, std::make_index_sequence<kMembers>()) == kNeverCompared);
}

TEST_CASE("a dense run heeds no choice of a compressor", "[measured_like]") {
  const Request row = row_of_table2("dense");
  REQUIRE(measured(row, row));
  std::set<std::string> aside = kNeverCompared;
  aside.insert({"costs", "costs_device", "costs_of", "density", "parameter", "sent_share", "mode",
                "implementation", "value_type", "wire_bytes_per_element", "selection",
                "compressing"});
  // all_changed() has one message, as a dense row.
  Request two = row;
  two.wire_messages = 2;
  CHECK(measured(two, row));
  CHECK(put_aside(two, std::make_index_sequence<kMembers>()) ==
        (aside.insert("wire_messages"), aside));
}

TEST_CASE("a choice left open is the one that the run has", "[measured_like]") {
  const Request row = row_of_table2("topk");
  Request open = row;
  open.wire_messages.reset();
  CHECK(measured(open, row));
  // A value and its index: 4 + 4 bytes.
  for (const int bytes : {7, 8, 9}) {
    Request said = row;
    said.wire_bytes_per_element = bytes;
    CHECK(measured(said, row).has_value() == (bytes == 8));
  }
  // A row of gTop-k says 8 bytes, and a request that says nothing sends as many.
  DataFiles files(GRADCAST_SOURCE_DIR);
  std::size_t rows = 0;
  for (const MeasuredRun& run :
       load_measured_runs(files.read(kMeasuredRuns, "measured-gtopk-1gbe")).runs) {
    if (run.compressor == "dense" || run.wire_bytes_per_element != 8) continue;
    Request request = request_of(run, files);
    request.stack.clear();
    request.wire_bytes_per_element.reset();
    CHECK(measured(request, request));
    ++rows;
  }
  CHECK(rows > 0);
}

TEST_CASE("files of one name in two folders are two files", "[measured_like]") {
  TemporaryFolder data;
  for (const char* kind : {"models", "platforms", "traces"})
    std::filesystem::create_directory(data.path / kind);
  const std::string model = "layer,tensor,elements,forward_flops\na,a.w,1000,1\n";
  const std::string trace =
      "# device: X\n# batch: 1\ntensor,forward_seconds,backward_seconds\na.w,0.001,0.001\n";
  const std::filesystem::path source = GRADCAST_SOURCE_DIR;
  std::filesystem::copy(source / "platforms/10gbe-4x4.csv", data.path / "platforms");
  for (const char* folder : {"traces", "models"}) {
    data.write(std::string(folder) + "/m.csv", model);
    data.write(std::string(folder) + "/t.csv", trace);
  }
  data.write("traces/measured-own.csv",
             "source,model,batch,compute_seconds,cluster,nodes,gpus_per_node,compressor,density,"
             "fusion,overlap,iteration_seconds,trace\n"
             "own,m.csv,1,0.002,10gbe-4x4,4,4,dense,1,merged,no,0.003,t.csv\n");
  DataFiles files(data.path);
  const auto asked = [&](const char* folder) {
    Request request;
    request.model = "m.csv";
    request.trace = "t.csv";
    request.folder = (data.path / folder).string();
    const Scenario scenario = make_scenario(request, files);
    return measured_like(request, scenario, make_plan(scenario), files).has_value();
  };
  CHECK(asked("traces"));
  CHECK(asked("traces/../traces"));
  CHECK_FALSE(asked("models"));
}
