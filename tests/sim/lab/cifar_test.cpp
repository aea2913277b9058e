#include "sim/lab/cifar.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

#include "sim/base/error.hpp"
#include "sim/lab/networks.hpp"
#include "tests/temporary_folder.hpp"

using namespace gradcast;
using namespace gradcast::lab;
using Catch::Contains;

namespace {

/// A record whose planes have one value each.
std::string record(char label, char red, char green, char blue) {
  return std::string(1, label) + std::string(1024, red) + std::string(1024, green) +
         std::string(1024, blue);
}

}  // namespace

// Mean of 0, 3, 6: 3; deviation the root of (9 + 0 + 9) / 3 = 6.
TEST_CASE("a folder of CIFAR-10's binary files is a dataset of three channels", "[lab]") {
  const TemporaryFolder folder;
  CHECK_FALSE(holds_cifar(folder.path));
  for (const char batch : {1, 2, 3, 4, 5})
    folder.write("data_batch_" + std::to_string(batch) + ".bin", record(batch, 0, 3, 6));
  CHECK(holds_cifar(folder.path));
  std::vector<InputFile> inputs;
  CHECK_THROWS_WITH(read_cifar_dataset("x", folder.path, inputs),
                    Contains("there is no test_batch.bin: CIFAR-10 is read in its binary version"));
  folder.write("test_batch.bin", record(9, 0, 3, 6) + record(0, 6, 0, 3));
  inputs.clear();
  const Dataset dataset = read_cifar_dataset("x", folder.path, inputs);
  CHECK(inputs.size() == 6);
  CHECK(dataset.shape == Shape{3, 32, 32});
  CHECK(dataset.classes == 10);
  CHECK(dataset.training.labels == std::vector<std::uint8_t>{1, 2, 3, 4, 5});
  CHECK(dataset.test.labels == std::vector<std::uint8_t>{9, 0});
  CHECK(dataset.mean == 3);
  CHECK(dataset.deviation == Approx(std::sqrt(6)));
  const std::uint32_t place = 1;
  std::vector<float> out(dataset.shape.size());
  dataset.copy(dataset.test, &place, 1, out.data());
  CHECK(out[0] == Approx(3 / std::sqrt(6)));
  CHECK(out[1024] == Approx(-3 / std::sqrt(6)));
  CHECK(out[3071] == 0);
  // 3 colours and 6 planes of 5 x 5, then 16 planes of 6 x 6 where images of 28 x 28 have 5 x 5.
  CHECK(find_network("lenet-5").make(dataset.shape, 10).size() ==
        61'706 + 2 * 6 * 25 + 16 * (36 - 25) * 120);
}

TEST_CASE("a file that has no CIFAR-10 records is refused in one line", "[lab]") {
  Samples samples;
  CHECK_THROWS_WITH(read_cifar_records("x", "", samples), Contains("x: has 0 bytes"));
  CHECK_THROWS_WITH(read_cifar_records("x", record(1, 0, 0, 0) + "a", samples),
                    Contains("has 3074 bytes, which are no whole records of 3073"));
  CHECK_THROWS_WITH(read_cifar_records("x", record(1, 0, 0, 0) + record(10, 0, 0, 0), samples),
                    Contains("x: record 2 has the label 10; CIFAR-10's are 0 to 9"));
  // The Python version of the same data.
  const TemporaryFolder folder;
  folder.write("data_batch_1", "pickled");
  CHECK(holds_cifar(folder.path));
  std::vector<InputFile> inputs;
  CHECK_THROWS_WITH(read_cifar_dataset("x", folder.path, inputs),
                    Contains("there is no data_batch_1.bin"));
}
