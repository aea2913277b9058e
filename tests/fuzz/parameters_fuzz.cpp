// room: import
// seeds: models/*.csv
// words: sim/import/kineto/model.cpp

#include "sim/import/kineto/model.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  for (const kineto::Parameter& one : kineto::load_parameters(text_file(bytes, "parameters.csv"))) {
    require(!one.name.empty(), "a parameter has a name");
    require(one.elements > 0, "a parameter has elements");
  }
}

const Harness harness("parameters", read);

}  // namespace
}  // namespace gradcast::fuzz
