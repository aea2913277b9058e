#include "sim/answers/build_commit.hpp"

// scripts/build_commit.cmake writes it: one line with the text in quotes.
namespace gradcast {

std::string build_commit() {
  return
#include "build_commit.inc"
      ;
}

}  // namespace gradcast
