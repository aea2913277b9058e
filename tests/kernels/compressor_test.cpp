#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "kernels/compressor.hpp"
#include "kernels/gpu.hpp"

using namespace gradcast;

TEST_CASE("every compressor is of one family, and stands in the table once", "[kernels]") {
  std::set<std::string> all;
  for (const Compressor* compressor : all_compressors()) {
    CAPTURE(compressor->name);
    CHECK(all.insert(std::string(compressor->name)).second);
    CHECK(find_compressor(compressor->name) == compressor);
    const bool sparse =
        compressor->family == Family::Dense || compressor->family == Family::Sparsifier;
    const bool packs =
        compressor->family == Family::Cast || compressor->family == Family::Quantiser;
    CHECK((compressor->encode != nullptr) == sparse);
    CHECK((compressor->packing != nullptr) == packs);
    CHECK((compressor->low_rank != nullptr) == (compressor->family == Family::LowRank));
  }
}

TEST_CASE("the table holds the sparsifiers of the design, each once", "[kernels]") {
  std::set<std::string> names;
  for (const Compressor* compressor : all_sparsifiers()) {
    CHECK(names.insert(std::string(compressor->name)).second);
    CHECK(find_compressor(compressor->name) == compressor);
    CHECK_FALSE(compressor->summary.empty());
  }
  CHECK(names == std::set<std::string>{"dense", "topk", "randk", "dgc", "gaussian", "trimmed",
                                       "rtopk", "threshold"});
  CHECK(find_compressor("top-k") == nullptr);
}

TEST_CASE("only dense gradients add up; sparse ones are gathered", "[kernels]") {
  for (const Compressor* compressor : all_sparsifiers()) {
    CAPTURE(compressor->name);
    CHECK((compressor->aggregation == Aggregation::AllReduce) == (compressor->name == "dense"));
  }
}

TEST_CASE("only Rand-k chooses its elements by the seed alone", "[kernels]") {
  for (const Compressor* compressor : all_compressors()) {
    CAPTURE(compressor->name);
    CHECK(compressor->shared_seed == (compressor->name == "randk"));
  }
}

TEST_CASE("casts add up in the all-reduce; what quantisers send is gathered", "[kernels]") {
  std::set<std::string> names;
  for (const Compressor* compressor : all_packers()) {
    CAPTURE(compressor->name);
    CHECK(names.insert(std::string(compressor->name)).second);
    CHECK((compressor->aggregation == Aggregation::AllReduce) ==
          (compressor->family == Family::Cast));
    const Parameter& parameter = compressor->parameter;
    CHECK(parameter.usual >= parameter.least);
    CHECK(parameter.usual <= parameter.most);
  }
  CHECK(names == std::set<std::string>{"fp16", "bf16", "int8", "qsgd", "natural", "terngrad",
                                       "efsignsgd", "onebit", "signsgd"});
}

TEST_CASE("a build without CUDA sees no device", "[kernels]") {
  if (!built_with_cuda()) CHECK(gpu_devices().empty());
}
