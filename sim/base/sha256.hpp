// One header, two implementations, and CMake picks: sha256_openssl.cpp, sha256_none.cpp.
#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace gradcast {

/// SHA-256 of a text that comes in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  void add(std::string_view piece);
  /// In lower-case hexadecimal; "" in a build without OpenSSL. May be called once.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The same of a whole text.
std::string sha256_hex(std::string_view content);

}  // namespace gradcast
