// SHA-256, with a known hash.
#include "sim/base/sha256.hpp"

#include <catch2/catch.hpp>

using namespace gradcast;

// FIPS 180-2, appendix B.1.
TEST_CASE("SHA-256 is SHA-256, or empty where the build has none", "[sha256]") {
  const std::string hash = sha256_hex("abc");
  if (!hash.empty())
    CHECK(hash == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
