// Catch2 3 under the header name and the names of Catch2 2, which the tests use. The build looks
// here only where Catch2 3 is installed (Debian 13, Ubuntu 24.04); Debian 12 has Catch2 2 itself.
#pragma once
#include <catch2/catch_all.hpp>
#include <string>

using Catch::Approx;

namespace Catch {

using Matchers::EndsWith;
using Matchers::Matches;
using Matchers::StartsWith;

/// Catch2 3 keeps this name for elements of ranges.
inline auto Contains(const std::string& part) { return Matchers::ContainsSubstring(part); }

}  // namespace Catch

#ifdef CATCH_CONFIG_MAIN
int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
#endif
