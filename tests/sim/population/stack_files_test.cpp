#include "sim/population/stack_files.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "sim/base/error.hpp"

using namespace gradcast;
using Catch::Contains;

namespace {

constexpr const char* kHeader = "stack,fusion,overlap,source,like\n";

UsualSchedules listed(const std::string& rows) {
  return load_usual_schedules({"stack-schedules.csv", kHeader + rows});
}

/// A fit of one stack, "old-mpi", with one draw of one term.
PopulationFit fit_of(const StackPriors& priors) {
  PopulationDraw draw;
  draw.middle = Eigen::VectorXd::Constant(1, std::log(10e-3));
  draw.between_stacks = draw.between_clusters = Eigen::VectorXd::Constant(1, 1e-9);
  draw.stacks = {Eigen::VectorXd::Constant(1, std::log(3e-3))};
  draw.discrepancy = {0.1, 0.1, 0.1};
  draw.scatter = {0.1};
  return {&priors, {"old-mpi"}, {draw, draw}, {Transport::Mpi}};
}

StackPriors one_prior() {
  return load_stack_priors({"stack-priors.csv",
                            "property,compressor,stacks,median,spread,between,source\n"
                            "per_iteration_overhead,,,10ms,100%,100%,x\n"
                            "discrepancy,,,10%,,,x\nscatter,,,10%,,,x\n"});
}

/// The stack of this name, read from its file.
Stack written(const std::vector<FittedFile>& files, const std::string& name) {
  for (const FittedFile& file : files)
    if (file.path == "platforms/stack-" + name + ".csv")
      return load_stack({file.path, file.content});
  FAIL("no file of " << name);
  return {};
}

}  // namespace

TEST_CASE("a stack that nobody measured has the costs of the one it is like", "[population]") {
  const StackPriors priors = one_prior();
  const auto files = stack_files(fit_of(priors), {},
                                 listed("old-mpi,merged,no,x,\nnew-mpi,layer,yes,y,old-mpi\n"
                                        "other,merged,never,z,\n"));
  REQUIRE(files.size() == 6);  // and a population a transport
  CHECK(written(files, "old-mpi").terms[0].value == Approx(3e-3));
  const Stack like = written(files, "new-mpi");
  CHECK(like.terms[0].value == Approx(3e-3));
  CHECK(to_text(like.schedule->fusion) == "layer");
  CHECK(like.schedule->overlap == UsualOverlap::Yes);
  const Stack other = written(files, "other");
  CHECK(other.terms[0].value == Approx(10e-3));
  CHECK(other.terms[0].source == "no run of it: what other stacks say");
  CHECK(written(files, "population").terms[0].value == Approx(10e-3));
  CHECK(written(files, "population-mpi").terms[0].value == Approx(10e-3));
  CHECK(written(files, "population-gloo").terms[0].value == Approx(10e-3));
}

// 3 ms by stacks of one row, 30 ms by those of another: the population has one term, of both.
TEST_CASE("a population has a term by all rows of its stacks", "[population]") {
  const StackPriors priors =
      load_stack_priors({"stack-priors.csv",
                         "property,compressor,stacks,median,spread,between,source\n"
                         "per_iteration_overhead,,nccl,3ms,10%,10%,x\n"
                         "per_iteration_overhead,,paper,30ms,10%,10%,x\n"
                         "discrepancy,,,10%,,,x\nscatter,,,10%,,,x\n"});
  PopulationDraw draw;
  draw.middle = Eigen::Vector2d(std::log(3e-3), std::log(30e-3));
  draw.between_stacks = draw.between_clusters = Eigen::Vector2d::Constant(1e-9);
  draw.stacks = {draw.middle, draw.middle};
  draw.discrepancy = {0.1, 0.1, 0.1};
  draw.scatter = {0.1, 0.1};
  const PopulationFit fit{&priors,
                          {"ddp-nccl", "paper"},
                          std::vector<PopulationDraw>(200, draw),
                          {Transport::Nccl, Transport::Nccl}};
  const auto files = stack_files(fit, {}, listed(""));
  CHECK(written(files, "ddp-nccl").terms[0].value == Approx(3e-3));
  CHECK(written(files, "paper").terms[0].value == Approx(30e-3));
  const Stack population = written(files, "population");
  REQUIRE(population.terms.size() == 1);
  CHECK(population.terms[0].presence == 1);
  // From 3 to 30 ms hold nine of ten: log(10) / 2 over the 2.015 of Student's t.
  CHECK(population.terms[0].deviation == Approx(std::log(10) / 2 / 2.015).epsilon(0.01));
}

TEST_CASE("a stack is like one that was measured", "[population]") {
  const StackPriors priors = one_prior();
  CHECK_THROWS_WITH(stack_files(fit_of(priors), {}, listed("a,merged,no,x,b\nb,merged,no,x,\n")),
                    Contains("stack 'a' is like 'b', which nobody measured"));
}

TEST_CASE("a list of schedules says how many collectives run at a time", "[population]") {
  const UsualSchedules read = load_usual_schedules({"stack-schedules.csv",
                                                    "stack,fusion,overlap,source,network_streams\n"
                                                    "two,ddp,yes,x,2\nusual,ddp,yes,x,\n"});
  CHECK(read.at("two").schedule.network_streams == 2);
  CHECK(read.at("usual").schedule.network_streams == 1);
}

TEST_CASE("a list of schedules says which shardings a software has", "[population]") {
  const UsualSchedules read = load_usual_schedules({"stack-schedules.csv",
                                                    "stack,fusion,overlap,source,shardings\n"
                                                    "two,ddp,yes,x,zero1 fsdp\nany,ddp,yes,x,\n"});
  CHECK(read.at("two").schedule.shardings == std::vector<std::string>{"zero1", "fsdp"});
  CHECK(read.at("any").schedule.shardings.empty());
}

TEST_CASE("a list of schedules may leave out what stacks are like", "[population]") {
  const UsualSchedules read = load_usual_schedules(
      {"stack-schedules.csv", "stack,fusion,overlap,source\nold-mpi,merged,no,x\n"});
  CHECK(read.at("old-mpi").like.empty());
}
