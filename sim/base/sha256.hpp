// One header, two implementations, and CMake picks: sha256_openssl.cpp, sha256_none.cpp.
#pragma once
#include <string>
#include <string_view>

namespace gradcast {

/// SHA-256 in lower-case hexadecimal; "" in a build without OpenSSL.
std::string sha256_hex(std::string_view content);

}  // namespace gradcast
