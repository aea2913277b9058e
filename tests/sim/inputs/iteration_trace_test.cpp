#include "sim/inputs/iteration_trace.hpp"

#include <catch2/catch.hpp>

#include "sim/base/error.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

IterationTrace trace(const std::string& comments, const std::string& rows) {
  return load_iteration_trace(TextFile{
      "traces/iteration-x.csv", comments + "tensor,forward_seconds,backward_seconds\n" + rows});
}

const std::string kComments = "# device: V100\n# batch: 128\n# update: 2ms\n";
const std::string kRows = "a,0.001,0.003\nb,0.002,0.004\n";

}  // namespace

// 1 + 2 forward, 3 + 4 backward, 2 update: 12 ms.
TEST_CASE("a trace adds up", "[trace]") {
  const IterationTrace read = trace(kComments, kRows);
  CHECK(read.forward().count() == Approx(3e-3));
  CHECK(read.backward().count() == Approx(7e-3));
  CHECK(read.iteration().count() == Approx(12e-3));
  CHECK(read.batch == 128);
  CHECK(read.device == "V100");
}

// Layers of 10 and 20 FLOPs: 1/3 and 2/3 of a third of a second forward, twice that backward. A
// layer's last tensor has its backward.
TEST_CASE("a model's FLOPs stand for its trace", "[trace]") {
  const Model model = load_model(TextFile{
      "models/x.csv", "layer,tensor,elements,forward_flops\na,a.w,5,10\na,a.b,1,0\nb,b.w,5,20\n"});
  const IterationTrace made = trace_by_flops(model);
  require_same_tensors(model, made);
  CHECK(made.batch == 1);
  CHECK(made.iteration().count() == Approx(1));
  CHECK(made.tensors[0].forward.count() == Approx(1. / 9));
  CHECK(made.tensors[0].backward.count() == 0);
  CHECK(made.tensors[1].backward.count() == Approx(2. / 9));
  CHECK(made.tensors[2].backward.count() == Approx(4. / 9));
  // A frozen tensor behind a trained one passes its input's gradient on, 1 for 1 forward; one in
  // front of all trained ones has no backward: 3 forward, 0 + 2 + 1 backward.
  Model equal = model;
  for (GradientTensor& tensor : equal.tensors) tensor.forward_flops = 1;
  equal.tensors.resize(3);
  for (std::size_t i = 0; i < 3; ++i) equal.tensors[i].layer = std::to_string(i);
  equal.tensors[0].frozen = equal.tensors[2].frozen = true;
  const IterationTrace tuned = trace_by_flops(equal);
  CHECK(tuned.forward().count() == Approx(3. / 6));
  CHECK(tuned.tensors[0].backward.count() == 0);
  CHECK(tuned.tensors[1].backward.count() == Approx(2. / 6));
  CHECK(tuned.tensors[2].backward.count() == Approx(1. / 6));
  const TextFile none{"models/x.csv", "layer,tensor,elements,forward_flops\na,a.w,5,0\n"};
  CHECK_THROWS_AS(trace_by_flops(load_model(none)), ValueError);
}

TEST_CASE("scaled to another total, the shares stay", "[trace]") {
  const IterationTrace read = scaled_to(trace(kComments, kRows), Seconds{0.12});
  CHECK(read.iteration().count() == Approx(0.12));
  CHECK(read.tensors[1].backward.count() == Approx(0.04));
  CHECK(read.update.count() == Approx(0.02));
}

// 1 + 2 forward and 3 + 4 backward three times, one update of 2: 32 ms. To 64 ms: all twice as
// long.
TEST_CASE("several micro-steps have one update", "[trace]") {
  CHECK(trace(kComments, kRows).iteration(3).count() == Approx(32e-3));
  const IterationTrace read = scaled_to(trace(kComments, kRows), Seconds{64e-3}, 3);
  CHECK(read.forward().count() == Approx(6e-3));
  CHECK(read.update.count() == Approx(4e-3));
  CHECK(read.iteration(3).count() == Approx(64e-3));
}

// Half the images: half the forward and backward, 1.5 + 3.5 ms, and the same update, 2 ms.
TEST_CASE("another batch changes forward and backward in proportion, not the update", "[trace]") {
  const IterationTrace read = with_batch(trace(kComments, kRows), 64);
  CHECK(read.iteration().count() == Approx(7e-3));
  CHECK(read.batch == 64);
}

// A parameter's 44 bytes of momentum take 2 ms. Plain SGD moves 12, and Adam 80. In one kernel they
// are 20, 12 and 28.
TEST_CASE("the update of another optimizer takes time as its bytes", "[trace]") {
  const auto update = [](const std::string& whose, Optimizer optimizer) {
    return with_optimizer(trace(kComments + whose, kRows), optimizer).update.count();
  };
  const std::string momentum = "# optimizer: SGD, momentum 0.9, weight decay 0.0001\n";
  CHECK(update(momentum, Optimizer::Momentum) == Approx(2e-3));
  CHECK(update(momentum, Optimizer::Sgd) == Approx(2e-3 * 12 / 44));
  CHECK(update(momentum, Optimizer::Adam) == Approx(2e-3 * 80 / 44));
  CHECK(update("# optimizer: AdamW\n", Optimizer::Momentum) == Approx(2e-3 * 44 / 80));
  CHECK(update("# optimizer: adam, fused\n", Optimizer::Momentum) == Approx(2e-3 * 20 / 28));
  CHECK(update("# optimizer: momentum, fused\n", Optimizer::Adam) == Approx(2e-3 * 28 / 20));
  // Nobody knows whose step it is.
  CHECK(update("", Optimizer::Adam) == Approx(2e-3));
  for (const char* whose : {"LAMB", "SGD without momentum", "SGD, Nesterov"})
    CHECK(update("# optimizer: " + std::string(whose) + "\n", Optimizer::Adam) == Approx(2e-3));
}

// To scale it to a measured time divides by its own.
TEST_CASE("a whole trace takes at least a nanosecond, its tensors as little as they like",
          "[trace]") {
  CHECK_THROWS_WITH(trace("# batch: 1\n", "a,1e-300,0\nb,0,1e-12\n"),
                    Contains("all times of the trace are 1e-12 s together; an iteration takes at "
                             "least 0.000000001 s"));
  CHECK(trace("# batch: 1\n", "a,1e-300,0\nb,0,1e-9\n").tensors.size() == 2);
}

TEST_CASE("what is wrong in a trace is named", "[trace]") {
  CHECK_THROWS_WITH(trace("", kRows), Contains("lacks the comment line '# batch: 128'"));
  // Errors quote the file's own words.
  CHECK_THROWS_WITH(trace("# batch: -1\n", kRows),
                    Contains("the comment line '# batch: -1': '-1' is not a count") &&
                        Contains("; write it like '# batch: 128'"));
  CHECK_THROWS_WITH(trace("# batch: many\n", kRows), Contains("'many' is not a whole number"));
  CHECK_THROWS_WITH(trace("# batch: 0\n", kRows), Contains("'0' is not a count"));
  CHECK_THROWS_WITH(trace("# batch: 1\n# update: 2\n", kRows), Contains("'2' has no unit"));
  CHECK_THROWS_WITH(trace(kComments, "a,-0.001,0.003\n"),
                    Contains("iteration-x.csv:5: column 'forward_seconds': -0.001"));
  CHECK_THROWS_WITH(trace(kComments, "a,0.001,nan\n"), Contains("'nan' is not a finite number"));
  CHECK_THROWS_WITH(trace("# batch: 1\n", "a,0,0\n"), Contains("no time in it"));
}

TEST_CASE("a trace is written as it was read", "[trace]") {
  const std::string text = iteration_trace_csv(trace(kComments, kRows), {"a note"});
  const IterationTrace again = load_iteration_trace(TextFile{"traces/iteration-x.csv", text});
  CHECK(again.update.count() == 2e-3);
  CHECK(iteration_trace_csv(again, {"a note"}) == text);
}

// Two layers; the host has launched backward of the first at 12 ms. Forward 0-1, 2-4 (launched at
// 2); backward 6-10 (launched at 6), 12-15; update 15-17. The next iteration is launched at 20 ms.
TEST_CASE("a trace may say when the host launches what", "[trace]") {
  const TextFile file{"traces/iteration-x.csv",
                      "# device: V100\n# batch: 128\n# update: 2ms\n# update_launch: 3ms\n"
                      "# host: 20ms\n"
                      "tensor,forward_seconds,backward_seconds,forward_launch_seconds,"
                      "backward_launch_seconds\n"
                      "a,0.001,0.003,0,0.012\nb,0.002,0.004,0.002,0.006\n"};
  const IterationTrace read = load_iteration_trace(file);
  CHECK(read.has_launches());
  CHECK(read.iteration().count() == Approx(12e-3));  // work alone
  CHECK(read.iteration_alone(1).count() == Approx(20e-3));
  // Twice as fast: backward 12-13.5, update -14.5; the host is no faster.
  CHECK(read.iteration_alone(2).count() == Approx(20e-3));
  IterationTrace quick = read;
  quick.host = Seconds{0};
  CHECK(quick.iteration_alone(1).count() == Approx(17e-3));
  CHECK(quick.iteration_alone(2).count() == Approx(14.5e-3));
  // Written and read, it is the same.
  const IterationTrace again =
      load_iteration_trace({"traces/iteration-y.csv", iteration_trace_csv(read, {})});
  CHECK(again.tensors[0].backward_launch == read.tensors[0].backward_launch);
  CHECK(again.tensors[1].forward_launch == read.tensors[1].forward_launch);
  CHECK(again.update_launch == read.update_launch);
  CHECK(again.host == read.host);
  // Scaling changes all times. With another batch, the host takes as long as before.
  CHECK(scaled_to(read, Seconds{24e-3}).host.count() == Approx(24e-3));
  CHECK(with_batch(read, 64).tensors[0].backward_launch.count() == Approx(12e-3));
}

TEST_CASE("without launches a trace is written as before, and waits for nobody", "[trace]") {
  const IterationTrace read = trace(kComments, kRows);
  CHECK_FALSE(read.has_launches());
  CHECK(read.iteration_alone(2).count() == Approx(6e-3));
  CHECK_THAT(iteration_trace_csv(read, {}), !Contains("launch") && !Contains("host"));
}

TEST_CASE("a trace may say in which order gradients are ready", "[trace]") {
  const std::string text =
      "# device: toy\n# batch: 1\n# update: 0s\n"
      "tensor,forward_seconds,backward_seconds,backward_place\n"
      "a,1,2,2\nb,1,4,3\nc,1,6,1\n";
  IterationTrace trace = load_iteration_trace({"toy.csv", text});
  CHECK(iteration_trace_csv(trace, {}) == text);
  Model model{"toy", {{"a", "a", 1, 0}, {"b", "b", 1, 0}, {"c", "c", 1, 0}}};
  put_in_backward_order(model, trace);  // c first, then a, then b: backward goes from the end
  CHECK(trace.tensors[2].tensor == "c");
  CHECK(trace.tensors[1].tensor == "a");
  CHECK(model.tensors[0].tensor == "b");
  CHECK_THROWS_WITH(load_iteration_trace({"toy.csv",
                                          "# device: toy\n# batch: 1\ntensor,forward_seconds,"
                                          "backward_seconds,backward_place\na,1,2,1\nb,1,4,1\n"}),
                    Catch::Contains("tensor 'b' has place 1"));
}
