#include "sim/import/kineto/sizes.hpp"

#include <catch2/catch.hpp>

#include "sim/import/kineto/event.hpp"

using namespace gradcast;
using namespace gradcast::kineto;

using Numbers = std::vector<std::int64_t>;

namespace {

/// Gradients in the order of readiness, each of a node of its own and in one bucket.
StepGradients with_rooms(const Numbers& rooms) {
  StepGradients step;
  for (const std::int64_t room : rooms)
    step.gradients.push_back({-1, room, step.groups.size(), 0}), step.groups.push_back({});
  return step;
}

}  // namespace

// 128 threads of 4 elements are 512 a block.
TEST_CASE("an elementwise kernel has room for 512 elements a block") {
  const char* kernel = "void at::native::vectorized_elementwise_kernel<4, ...>";
  CHECK(elementwise_elements(kernel, 2, 128) == 1024);
  CHECK(elementwise_elements(kernel, 2, 64) == 512);  // as in PyTorch 1.8
  CHECK(elementwise_elements(kernel, 2, 256) == -1);
  CHECK(elementwise_elements("gemm", 2, 128) == -1);
  CHECK(elementwise_elements(kernel, -1, 128) == -1);
}

// Rooms 512 + 512 + 1024 = 2048 for 2000 elements: 48 too many, 24 from each of the small ones.
TEST_CASE("rooms are cut to the sum that is known, the smallest first") {
  CHECK(fitted_to_sum({512, 512, 1024}, 2000, 511) == Numbers{488, 488, 1024});
  // 2048 - 1000 = 1048: 511 from each of the small ones, 26 from the large one.
  CHECK(fitted_to_sum({512, 512, 1024}, 1000, 511) == Numbers{1, 1, 998});
  CHECK(fitted_to_sum({512, 512}, 1024, 511) == Numbers{512, 512});
  // An odd one is taken from the first.
  CHECK(fitted_to_sum({512, 512}, 1021, 511) == Numbers{510, 511});
}

TEST_CASE("a sum that no sizes within the rooms have is not fitted") {
  CHECK(fitted_to_sum({512, 512}, 1025, 511).empty());
  CHECK(fitted_to_sum({512, 512}, 1, 511).empty());
}

// The first bucket is 1000 of 1024, the second 100 of 512.
TEST_CASE("copies into buckets give sizes that add up to what NCCL was given") {
  StepGradients step = with_rooms({512, 512, 512});
  step.gradients[2].bucket = 1;
  const Sizes sizes = sizes_of(step, {1000, 100}, 4);
  CHECK(sizes.from == ShapesFrom::Inferred);
  CHECK(sizes.elements == Numbers{500, 500, 100});
}

// 3000 elements do not fit into 512 + 1024; with 8 elements a thread there is room for 3072.
TEST_CASE("sums tell how many elements a thread takes") {
  CHECK(sizes_of(with_rooms({512, 1024}), {3000}, 4).elements == Numbers{952, 2048});
  CHECK(sizes_of(with_rooms({512, 1024}), {9000}, 4).from == ShapesFrom::Unknown);
}

TEST_CASE("what DDP copies back is the exact size, where it agrees with the copies in") {
  StepGradients step = with_rooms({512, 1024});
  step.copied_back = {4 * 300, 4 * 1000};
  CHECK(sizes_of(step, {1300}, 4).elements == Numbers{300, 1000});
  // 100 elements would have a room of 512, not 1024: the copies are of something else. 1536 - 1300
  // = 236 too many, from the smaller one.
  step.copied_back = {4 * 300, 4 * 100};
  CHECK(sizes_of(step, {1300}, 4).elements == Numbers{276, 1024});
  // Sums that NCCL was not given are not trusted either.
  step.copied_back = {4 * 300, 4 * 1000};
  CHECK(sizes_of(step, {1200}, 4).elements == Numbers{176, 1024});
}

// Two kernels a tensor, in forward order: 512 and 1024. Gradients are done backward.
TEST_CASE("the optimizer's kernels give sizes, in the opposite order") {
  StepGradients step = with_rooms({-1, -1});
  step.optimizer_rooms = {512, 512, 1024, 1024};
  CHECK(sizes_of(step, {}, 4).elements == Numbers{1024, 512});
  step.optimizer_rooms = {512, 1024, 512, 1024};  // the two kernels of a tensor differ
  CHECK(sizes_of(step, {}, 4).from == ShapesFrom::Unknown);
  step.optimizer_rooms = {512, 512, 1024};
  CHECK(sizes_of(step, {}, 4).from == ShapesFrom::Unknown);
}

TEST_CASE("recorded shapes come before everything else") {
  StepGradients step = with_rooms({512, 512});
  step.gradients[0].recorded = 7;
  step.gradients[1].recorded = 9;
  const Sizes sizes = sizes_of(step, {16}, 4);
  CHECK(sizes.from == ShapesFrom::Recorded);
  CHECK(sizes.elements == Numbers{7, 9});
}
