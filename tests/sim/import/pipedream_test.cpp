#include "sim/import/text/pipedream.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/base/text.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

Imported read(const std::string& text, std::optional<int> batch = {}) {
  const TemporaryFolder folder;
  return read_pipedream(folder.write("graph.txt", text), "m", batch);
}

std::string node(int number, const std::string& what, double forward, double backward,
                 std::int64_t activation, std::int64_t parameters) {
  return "node" + std::to_string(number) + " -- " + what +
         " -- forward_compute_time=" + std::to_string(forward) +
         ", backward_compute_time=" + std::to_string(backward) +
         ", activation_size=" + std::to_string(activation) +
         ".000, parameter_size=" + std::to_string(parameters) + ".000\n";
}

// Two images of 224 x 224: 2 x 3 x 224 x 224 x 4 = 1,204,224 bytes. As the program writes them,
// nodes are in no order.
const std::string kInput = node(1, "Input", 18.5, 0, 1'204'224, 0);
const std::string kGraph =
    node(3, "ReLU(inplace)", 0.5, 0.25, 100, 0) +
    node(2, "Conv2d(3, 64, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))", 2, 3, 100, 7168) +
    kInput + node(5, "Linear(in_features=10, out_features=4, bias=False)", 1, 1.5, 100, 160) +
    node(4, "BatchNorm2d(64, eps=1e-05)", 0.75, 1, 100, 512) +
    "\tnode1 -- node2\n\tnode2 -- node3\n";

}  // namespace

// 7168 bytes are 1792 = 3 x 64 x 9 weights and 64 biases. The ReLU is the convolution's: 2.5 ms and
// 3.25 ms.
TEST_CASE("a PipeDream graph gives tensors, and times of operators in the order they ran",
          "[pipedream]") {
  const Imported result = read(kGraph);
  REQUIRE(result.model->tensors.size() == 5);
  require_same_tensors(*result.model, *result.trace);
  CHECK(result.model->tensors[0].tensor == "node2 Conv2d.weight");
  CHECK(result.model->tensors[0].elements == 1728);
  CHECK(result.model->tensors[1].elements == 64);
  CHECK(result.model->tensors[3].elements == 64);
  CHECK(result.model->tensors[4].elements == 40);
  CHECK(result.trace->tensors[0].forward.count() == Approx(2.5e-3));
  CHECK(result.trace->tensors[1].backward.count() == Approx(3.25e-3));
  CHECK(result.trace->tensors[4].backward.count() == Approx(1.5e-3));
  CHECK(result.trace->batch == 2);
  CHECK_THAT(join(result.notes.dropped), Contains("loading of data, 18.5 ms"));
}

TEST_CASE("a graph that is wrong is refused with its line", "[pipedream]") {
  const auto refused = [](const std::string& text, const char* why) {
    CHECK_THROWS_WITH(read(text, 1), Contains("graph.txt") && Contains(why));
  };
  refused("", "has no nodes");
  refused(kInput, "no operator with parameters");
  refused(kGraph + "what\n", "graph.txt:8: no line of a PipeDream graph");
  refused(kGraph + kInput, "node 1 stands twice");
  refused(node(1, "Conv2d", -1, 0, 0, 4), "forward_compute_time is -1");
  refused(node(1, "Conv2d", 1, 0, 0, 99'999'999'999), "24999999999 parameters");
  refused("nodeX -- Conv2d -- forward_compute_time=1\n", "the node's number");
  refused("node1 -- Conv2d -- forward_compute_time=1\n", "has no backward_compute_time=NUMBER");
  CHECK_THROWS_WITH(read(node(1, "Conv2d", 1, 0, 5, 4)), Contains("--batch N"));
}
