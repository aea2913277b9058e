#include <catch2/catch.hpp>

#include "sim/base/error.hpp"
#include "sim/import/imported.hpp"

using namespace gradcast;

namespace {

/// A step of 10 s: 3 of work, 6 of waiting for the host, 1 of the rest.
Imported imported() {
  Imported made;
  ImportedTimes times;
  times.window = Seconds{10};
  times.compute = times.busy = Seconds{3};
  times.idle = Seconds{7};
  times.host = Seconds{6};
  times.other = Seconds{1};
  made.times = times;
  IterationTrace trace{"", "GPU", 1, Seconds{1}, {{"a", Seconds{1}, Seconds{1}}}};
  trace.tensors[0].backward_launch = Seconds{4};
  trace.host = Seconds{10};
  made.trace = trace;
  return made;
}

}  // namespace

TEST_CASE("a step that the profiler made longer had more waiting for the host") {
  Imported run = imported();
  rescale(run, Seconds{5});
  CHECK(run.times->window.count() == 5);
  CHECK(run.times->host.count() == 1);
  CHECK(run.times->idle.count() == 2);
  CHECK(run.times->compute.count() == 3);
  CHECK(run.trace->iteration().count() == 3);
  CHECK(run.trace->tensors[0].backward_launch.count() == 2);
  CHECK(run.trace->iteration_alone(1).count() == 5);
}

TEST_CASE("a step that is shorter than that is shorter in all its parts") {
  Imported run = imported();
  rescale(run, Seconds{1});
  CHECK(run.times->window.count() == Approx(1));
  CHECK(run.times->compute.count() == Approx(0.3));
  CHECK(run.trace->iteration().count() == Approx(0.3));
  CHECK(run.trace->host.count() == Approx(1));
}

TEST_CASE("without times there is nothing to scale") {
  Imported none;
  CHECK_THROWS_AS(rescale(none, Seconds{1}), ValueError);
}
