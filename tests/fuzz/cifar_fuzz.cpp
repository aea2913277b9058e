// room: lab
// words: sim/lab/cifar.cpp
// longest: 9219

#include "sim/lab/cifar.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  lab::Samples samples;
  lab::read_cifar_records("x", bytes, samples);
  require(samples.labels.size() * 3073 == bytes.size(), "each record is one sample");
  require(samples.bytes.size() == samples.labels.size() * 3072, "each sample is one image");
}

const Harness harness("cifar", read);

}  // namespace
}  // namespace gradcast::fuzz
