// Real traces, trimmed: tests/sim/import/traces/README.md says where they come from. The figures of
// the A100's are those of an independent reader of the whole trace.
#include <catch2/catch.hpp>
#include <numeric>

#include "sim/base/gzip.hpp"
#include "sim/import/kineto/event_reader.hpp"
#include "sim/import/readers.hpp"
#include "sim/inputs/data_files.hpp"

using namespace gradcast;

namespace {

const std::string kTraces = GRADCAST_SOURCE_DIR "/tests/sim/import/traces/";

Imported imported_from(const std::string& file) {
  const std::vector<std::filesystem::path> paths = {kTraces + file};
  return import_reader_for(paths).read(paths, {.name = "resnet", .params = {}, .batch = {}});
}

/// Milliseconds.
Approx about(double milliseconds, double window, double share) {
  return Approx(milliseconds * 1e-3).margin(window * 1e-3 * share).epsilon(0);
}

std::vector<std::int64_t> elements_of(const Model& model) {
  std::vector<std::int64_t> elements;
  for (const GradientTensor& tensor : model.tensors) elements.push_back(tensor.elements);
  return elements;
}

std::vector<std::int64_t> elements_of_resnet_50() {
  DataFiles files(GRADCAST_SOURCE_DIR);
  return elements_of(load_model(files.read(kModels, "resnet-50")));
}

bool can_read() { return kineto::event_reader_built() && gzip_built(); }

}  // namespace

TEST_CASE("the A100's trace has the times that an independent reader found") {
  if (!can_read()) return;
  const Imported resnet = imported_from("resnet50-ddp-a100x2.json.gz");
  const double window = 220.893;
  REQUIRE(resnet.times.has_value());
  const ImportedTimes& times = *resnet.times;
  CHECK(resnet.device == "NVIDIA A100-PG509-200");
  CHECK(resnet.world_size == 2);
  CHECK(resnet.steps_used == 2);
  CHECK(resnet.linked == 3774);
  CHECK(times.window.count() == about(220.893, window, 0.001));
  CHECK(times.compute.count() == about(39.344, window, 0.001));
  CHECK(times.exposed.count() == about(10.24, window, 0.001));
  CHECK(times.idle.count() == about(171.31, window, 0.001));
  CHECK(times.forward.count() == about(12.907, window, 0.001));
  CHECK(times.backward.count() == about(25.24, window, 0.001));
  CHECK(times.update.count() == about(0.693, window, 0.001));
  CHECK(times.busy.count() == about(39.344, window, 0.01));
  CHECK(times.host.count() == about(170.449, window, 0.01));
  CHECK(times.wait.count() == about(0.688, window, 0.01));
  CHECK(times.other.count() == about(10.412, window, 0.01));
  // Both divisions of the window are whole: 39.344 + 10.240 + 171.310 = 220.894.
  CHECK((times.compute + times.exposed + times.idle).count() == about(window, window, 1e-4));
  CHECK((times.busy + times.host + times.wait + times.other).count() ==
        about(window, window, 1e-4));
}

TEST_CASE("the A100's trace has DDP's five buckets, and sizes that add up to them") {
  if (!can_read()) return;
  const Imported resnet = imported_from("resnet50-ddp-a100x2.json.gz");
  CHECK(resnet.buckets ==
        std::vector<std::int64_t>{2'049'000, 7'875'584, 6'563'840, 6'637'568, 2'431'040});
  CHECK(resnet.shapes == ShapesFrom::Inferred);
  REQUIRE(resnet.model.has_value());
  // 2,049,000 + 7,875,584 + 6,563,840 + 6,637,568 + 2,431,040 = 25,557,032.
  CHECK(resnet.model->elements() == 25'557'032);
  CHECK(elements_of(*resnet.model) == elements_of_resnet_50());
  // 4 bytes of each.
  REQUIRE(resnet.collectives.size() == 2);
  CHECK(resnet.collectives[0].name == "all-reduce");
  CHECK(resnet.collectives[0].count == 5);
  CHECK(resnet.collectives[0].bytes.count == 102'228'128);
  CHECK(resnet.collectives[1].count == 2);
  // Mean and variance of 26,560 channels in fp32, and a counter of 8 bytes of each of 53 layers.
  CHECK(resnet.model->buffers() == std::vector{Bytes{2 * 26'560 * 4}, Bytes{53 * 8}});
}

TEST_CASE("a trace with shapes is ResNet-50, tensor by tensor in forward order") {
  if (!can_read()) return;
  const Imported resnet = imported_from("resnet50-v100-shapes.json.gz");
  CHECK(resnet.shapes == ShapesFrom::Recorded);
  REQUIRE(resnet.model.has_value());
  CHECK(elements_of(*resnet.model) == elements_of_resnet_50());
  CHECK(resnet.model->tensors.front().tensor == "conv2d-1.weight");
  CHECK(resnet.model->tensors.back().layer == "linear-1");
  REQUIRE(resnet.trace.has_value());
  CHECK(resnet.trace->batch == 32);
}

TEST_CASE("the times of the tensors add up to those of the passes") {
  if (!can_read()) return;
  for (const char* file : {"resnet50-ddp-a100x2.json.gz", "resnet50-v100-shapes.json.gz"}) {
    const Imported resnet = imported_from(file);
    REQUIRE(resnet.trace.has_value());
    // Medians of tensors need not add up to the median of their sum.
    CHECK(resnet.trace->forward() / resnet.times->forward == Approx(1).epsilon(0.01));
    CHECK(resnet.trace->backward() / resnet.times->backward == Approx(1).epsilon(0.01));
  }
}
