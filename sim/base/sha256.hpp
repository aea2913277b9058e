// SHA-256 by OpenSSL. A build without it (a GPU machine without packages) names inputs without
// their hash.
#pragma once
#include <filesystem>
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
  /// The digest in lower-case hexadecimal; "" in a build without OpenSSL. May be called once.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The same of a whole text.
std::string sha256_hex(std::string_view content);

/// SHA-256 of a file's bytes as stored (compressed files are not unpacked): what `sha256sum`
/// prints. The file may be longer than memory.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace gradcast
