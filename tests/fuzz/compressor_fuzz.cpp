// room: inputs
// seeds: traces/examples/deltak.csv
// words: sim/inputs/compressor_file.cpp sim/base/formula.cpp

#include "sim/inputs/compressor_file.hpp"
#include "sim/inputs/compressor_words.hpp"
#include "tests/fuzz/harness.hpp"

namespace gradcast::fuzz {
namespace {

void read(const std::string& bytes) {
  const auto compressor = load_compressor(text_file(bytes, "mine.csv"));
  require(described(*compressor) == compressor.get(), "a file's compressor is a described one");
  require(!sent_text(*compressor).empty(), "it says what it sends");
  const double sent = (*compressor->payload)(1000, 1, 8);
  require(sent >= 0 && sent <= 1e15, "what is sent is a size");
}

const Harness harness("compressor", read);

}  // namespace
}  // namespace gradcast::fuzz
