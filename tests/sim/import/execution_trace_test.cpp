#include "sim/import/execution/execution_trace.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/base/gzip.hpp"
#include "sim/base/text.hpp"
#include "sim/import/readers.hpp"
#include "tests/sim/import/wire_writer.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

std::string attribute(const std::string& name, int field, std::int64_t number) {
  return bytes_field(10, bytes_field(1, name) + number_field(field, number));
}

struct ChakraNode {
  std::int64_t id;
  std::string name;
  std::int64_t microseconds = 0;
  std::vector<std::int64_t> data_deps{};
  std::string more{};  // further fields
};

/// A message with its size before it.
std::string sized(const std::string& message) { return varint(message.size()) + message; }

std::string chakra_message(const ChakraNode& node, int type) {
  std::string message =
      number_field(1, node.id) + bytes_field(2, node.name) + number_field(3, type);
  // Control dependencies of real traces dangle, and lead to the node itself: not followed.
  message += number_field(4, node.id) + number_field(4, 99'999);
  if (node.microseconds != 0) message += number_field(7, node.microseconds);
  for (const std::int64_t needed : node.data_deps) message += number_field(5, needed);
  return sized(message + node.more);
}

std::string inputs(const std::string& values, const std::string& shapes) {
  return bytes_field(8, bytes_field(1, values) + bytes_field(2, shapes));
}

std::string host(const ChakraNode& node, std::int64_t thread, std::int64_t sequence = -1) {
  return chakra_message({node.id, node.name, node.microseconds, node.data_deps,
                         node.more + attribute("is_cpu_op", 27, 1) + attribute("tid", 9, thread) +
                             attribute("seq_id", 9, sequence)},
                        4);
}

std::string gpu(std::int64_t id, std::int64_t microseconds, std::int64_t launcher) {
  return chakra_message({id, "kernel", microseconds, {launcher}, attribute("is_cpu_op", 27, 0)}, 4);
}

std::string collective(std::int64_t id, std::int64_t kind, std::int64_t bytes) {
  return chakra_message({id,
                         "ncclKernel",
                         50,
                         {},
                         attribute("is_cpu_op", 27, 0) + attribute("comm_type", 9, kind) +
                             attribute("comm_size", 9, bytes)},
                        7);
}

const std::string kHead =
    sized(bytes_field(2, bytes_field(1, "schema") + bytes_field(29, "1.0.1")));

// Two layers: a convolution with 8 x 4 x 3 x 3 = 288 weights, and a linear layer with 80 and a
// bias.
std::string small_chakra() {
  const std::string weight = "[10, 11, 0, 288, 4, 'cuda:0']";
  const std::string matrix = "[20, 21, 0, 80, 4, 'cuda:0']";
  const std::string bias = "[30, 31, 0, 10, 4, 'cuda:0']";
  return kHead +
         host({1,
               "aten::conv2d(0)",
               5,
               {},
               inputs("[[1, 2, 0, 999, 4, 'cuda:0'], " + weight + ", [1, 1]]",
                      "[[16, 4, 9, 9], [8, 4, 3, 3], [[], []]]")},
              1, 100) +
         gpu(2, 100, 1) + host({3, "aten::relu_(0)", 1, {1}}, 1, 101) + gpu(4, 20, 3) +
         host({5,
               "aten::addmm(0)",
               2,
               {3},
               inputs("[" + bias + ", [7, 8, 0, 5, 4, 'cuda:0'], " + matrix + "]",
                      "[[10], [16, 8], [8, 10]]")},
              1, 102) +
         gpu(6, 30, 5) +
         // Backward, on another thread: the linear layer, the activation, the convolution.
         host({7, "aten::mm(0)", 2, {5}, inputs("[" + matrix + "]", "[[8, 10]]")}, 2) +
         gpu(8, 60, 7) + host({9, "aten::mul(0)", 1, {7}}, 2) + gpu(10, 3, 9) +
         host({11, "aten::threshold_backward(0)", 1, {7}}, 2) + gpu(12, 25, 11) +
         host({13, "aten::convolution_backward(0)", 4, {11}, inputs("[" + weight + "]", "")}, 2) +
         gpu(14, 210, 13) + collective(15, 0, 4 * 90) + collective(16, 0, 4 * 288) +
         host({17,
               "aten::_foreach_add_(0)",
               4,
               {13},
               inputs("[[" + weight + ", " + matrix + ", " + bias + "], 0.1]", "")},
              1) +
         gpu(18, 7, 17) + collective(19, 5, 64);
}

Imported read_et(const std::string& bytes) {
  const TemporaryFolder folder;
  return imported_from(read_chakra(folder.write("a.et", bytes)), "m");
}

}  // namespace

// Forward: 100 us of the convolution and 20 of the activation behind it, 30 of the linear layer.
// Backward: 60 of the linear layer; the activation's 25 belong to the convolution before it in
// forward, with its own 210. Update 7. The 3 us that copy into a bucket are no layer's.
TEST_CASE("a Chakra trace gives the model, its times and its collectives", "[execution]") {
  const Imported result = read_et(small_chakra());
  REQUIRE(result.model);
  REQUIRE(result.trace);
  require_same_tensors(*result.model, *result.trace);
  REQUIRE(result.model->tensors.size() == 3);
  CHECK(result.model->tensors[0].tensor == "001 conv2d.1");
  CHECK(result.model->tensors[0].elements == 288);
  CHECK(result.model->tensors[1].layer == "002 addmm");
  CHECK(result.model->elements() == 288 + 80 + 10);
  const auto& times = result.trace->tensors;
  CHECK(times[0].forward.count() == Approx(120e-6));
  CHECK(times[1].forward.count() == Approx(30e-6));
  CHECK(times[2].backward.count() == Approx(60e-6));  // a layer's last tensor
  CHECK(times[0].backward.count() == Approx(235e-6));
  CHECK(result.trace->update.count() == Approx(7e-6));
  CHECK(result.trace->batch == 16);
  REQUIRE(result.collectives.size() == 2);
  CHECK(result.collectives[0].name == "all-reduce");
  CHECK(result.collectives[0].count == 2);
  CHECK(result.collectives[0].bytes == Bytes{4 * 378});
  CHECK(result.collectives[1].name == "broadcast");
  CHECK(result.model->buffers() == std::vector{result.collectives[1].bytes});
  CHECK(result.buckets == std::vector<std::int64_t>{90, 288});
  CHECK_THAT(join(result.notes.used),
             Contains("19 nodes: 8 of the GPU, 455 us, 8 of the host, 20 us, 3 collectives"));
  CHECK_THAT(join(result.notes.unknown), Contains("collectives include waiting"));
}

// The buckets are 90 and 288 elements; the first all-reduce is of 4 x 90 bytes.
TEST_CASE("execution traces of ranks that have no all-reduce in common are refused",
          "[execution]") {
  const TemporaryFolder folder;
  const std::string first = folder.write("a.et", small_chakra());
  const auto read_with = [&](const std::string& other) {
    return import_reader_named("chakra").read({first, folder.write("b.et", other)}, {});
  };
  const auto with = [](const std::string& old, const std::string& other) {
    std::string bytes = small_chakra();
    const std::size_t at = bytes.find(old);
    REQUIRE(at != std::string::npos);
    return bytes.replace(at, old.size(), other);
  };
  CHECK(read_with(small_chakra()).world_size == 2);
  CHECK(read_with(with(collective(15, 0, 4 * 90), "")).world_size == 2);
  CHECK_THROWS_WITH(
      read_with(with(collective(15, 0, 4 * 90) + collective(16, 0, 4 * 288),
                     collective(15, 0, 4 * 100) + collective(16, 0, 4 * 278))),
      Contains("b.et: does not fit ") && Contains("the first has 100 elements here and 90 there"));
  CHECK_THROWS_WITH(read_with(with(collective(15, 0, 4 * 90) + collective(16, 0, 4 * 288), "")),
                    Contains("the all-reduces of a step are 0 here and 2 there"));
}

TEST_CASE("a packed Chakra trace is the same", "[execution]") {
  if (!gzip_built()) return;
  const TemporaryFolder folder;
  Gzip packed;
  packed.add(small_chakra());
  CHECK(read_chakra(folder.write("a.et.gz", packed.finish())).nodes.size() == 19);
}

TEST_CASE("what is not data-parallel is refused with the reason", "[execution]") {
  CHECK_THROWS_WITH(read_et(kHead + collective(1, 6, 8)), Contains("a.et: has an all-to-all"));
  CHECK_THROWS_WITH(read_et(kHead + collective(1, 7, 8)), Contains("reduce-scatter, as sharded"));
  CHECK_THROWS_WITH(read_et(kHead + chakra_message({1, "send"}, 5)), Contains("as pipelines do"));
}

TEST_CASE("a Chakra trace that is wrong is refused in one line", "[execution]") {
  const auto refused = [](const std::string& bytes, const char* why) {
    CAPTURE(why);
    CHECK_THROWS_WITH(read_et(bytes), Contains("a.et") && Contains(why));
  };
  refused("", "the file is empty");
  refused(kHead, "has no nodes");
  refused(small_chakra().substr(0, 190), "cut off inside a message");
  refused(std::string(30, '\xff'), "more than 9 bytes");
  refused(varint(1 << 30), "a message of 1073741824 bytes");
  refused(kHead + gpu(1, -5, 2), "node 1 takes -5 us");
  refused(kHead + gpu(1, 5, 2) + gpu(1, 5, 2), "two nodes have the number 1");
  refused(kHead + host({1, "a", 0, {2}}, 1) + host({2, "b", 0, {1}}, 1), "2 nodes go in a circle");
  refused(kHead + collective(1, 0, -1), "hands over -1 bytes");
}

TEST_CASE("a list of tensors is read as Python and as JSON write it", "[execution]") {
  for (const char* text : {"[[[1, 2, 0, 64, 4, 'cuda:0'], [3, 4, 0, 7, 2, 'x']], 5, 'adam']",
                           R"([[[1,2,0,64,4,"cuda:0"],[3,4,0,7,2,"x"]],5,"adam"])"}) {
    std::vector<TensorInput> tensors;
    append_tensors(text, "", tensors);
    REQUIRE(tensors.size() == 2);
    CHECK(tensors[1].id == 3);
    CHECK(tensors[1].elements == 7);
    CHECK(tensors[1].element_bytes == 2);
    CHECK(tensors[1].in_list);
  }
  for (const char* none : {"", "[", "]]]", "[1, 2, 0, 64, 4]", "[1, 2, 0, -64, 4, 'cuda:0']",
                           "[1, 2, 0, 99999999999999999999999999, 4, 'cuda:0']", "['"}) {
    std::vector<TensorInput> tensors;
    append_tensors(none, none, tensors);
    CHECK(tensors.empty());
  }
}

namespace {

Imported read_json_trace(const std::string& nodes) {
  const TemporaryFolder folder;
  return imported_from(
      read_pytorch_trace(folder.write(
          "a.json",
          R"({"schema": "1.1.0-chakra.0.0.4", "start_ts": 1, "nodes": [)" + nodes + "]}")),
      "m");
}

std::string json_node(int id, const std::string& name, const std::string& values,
                      const std::string& attributes = "") {
  return R"({"id": )" + std::to_string(id) + R"(, "name": ")" + name +
         R"(", "ctrl_deps": 1, "inputs": {"values": )" + values +
         R"(, "shapes": [], "types": []}, "attrs": [)" + attributes + "]}";
}

std::string sequence(int number) {
  return R"({"name": "seq_id", "type": "int64", "value": )" + std::to_string(number) + "}";
}

}  // namespace

// Two steps: each takes the weight once in forward, and all-reduces it.
TEST_CASE("a PyTorch execution trace gives the model and the collectives of a step",
          "[execution]") {
  const std::string weight = R"([10, 11, 0, 288, 4, "cuda:0"])";
  const std::string ranks = R"({"name": "pg_size", "type": "uint64", "value": 8})";
  const auto reduce = [&](int id, const char* what) {
    return json_node(id, "record_param_comms",
                     "[[" + weight + R"(], 1, ["0", "pg"], 0, ")" + what + R"(", [], [], 0, 1, 8])",
                     ranks);
  };
  const std::string optimizer = json_node(4, "aten::_foreach_add_", "[[" + weight + "], 0.1]");
  const Imported result =
      read_json_trace(json_node(1, "aten::conv2d", "[" + weight + "]", sequence(5)) + "," +
                      reduce(2, "allreduce") + "," + reduce(3, "wait") + "," + optimizer + "," +
                      json_node(5, "aten::conv2d", "[" + weight + "]", sequence(9)) + "," +
                      reduce(6, "allreduce") + "," + reduce(7, "wait"));
  REQUIRE(result.model);
  CHECK(result.model->tensors.size() == 1);
  CHECK_FALSE(result.trace);
  CHECK(result.world_size == 8);
  CHECK(result.steps_used == 2);
  REQUIRE(result.collectives.size() == 1);  // waiting is none
  CHECK(result.collectives[0].count == 1);
  CHECK(result.collectives[0].bytes == Bytes{4 * 288});
  CHECK(result.buckets == std::vector<std::int64_t>{288});
  CHECK_THROWS_WITH(read_json_trace(reduce(1, "all_to_allv")), Contains("all-to-all"));
  CHECK_THROWS_WITH(read_json_trace(R"({"id": "x", "name": 3})"), Contains("without \"id\""));
  CHECK_THROWS_WITH(read_json_trace(""), Contains("has no \"nodes\""));
}

// PyTorch gives the id of a freed tensor to the next one: here the gradient of the weight has the
// id of the activation that the ReLU took. 322 gradients were counted for the 161 of a ResNet-50.
TEST_CASE("a gradient that has an activation's id is not taken for a parameter", "[execution]") {
  const std::string weight = R"([10, 11, 0, 288, 4, "cuda:0"])";
  const std::string activation = R"([40, 41, 0, 5000, 4, "cuda:0"])";
  const std::string gradient = R"([40, 42, 0, 288, 4, "cuda:0"])";
  const Imported result = read_json_trace(
      json_node(1, "aten::conv2d", "[" + weight + "]", sequence(5)) + "," +
      json_node(2, "aten::relu", "[" + activation + "]", sequence(6)) + "," +
      json_node(3, "aten::_foreach_add_", "[[" + weight + "], [" + gradient + "], -0.1]"));
  REQUIRE(result.model);
  CHECK(result.model->tensors.size() == 1);
  CHECK(result.model->elements() == 288);
}

TEST_CASE("all-reduces in some forward passes only are said", "[execution]") {
  const std::string weight = R"([10, 11, 0, 288, 4, "cuda:0"])";
  const std::string optimizer = json_node(4, "aten::_foreach_add_", "[[" + weight + "], 0.1]");
  const Imported result = read_json_trace(
      json_node(1, "aten::conv2d", "[" + weight + "]", sequence(5)) + "," +
      json_node(2, "aten::conv2d", "[" + weight + "]", sequence(9)) + "," +
      json_node(3, "record_param_comms",
                "[[" + weight + R"(], 1, ["0", "pg"], 0, "allreduce", [], [], 0, 1, 8])") +
      "," + optimizer);
  CHECK_THAT(join(result.notes.unknown), Contains("1 in 2 forward passes, so steps differ"));
}
