#include "sim/base/sha256.hpp"

#ifdef GRADCAST_OPENSSL
#include <openssl/evp.h>
#endif

#include <array>
#include <fstream>
#include <stdexcept>

namespace gradcast {

#ifdef GRADCAST_OPENSSL

namespace {

void require(bool done) {
  if (!done) throw std::runtime_error("OpenSSL could not compute a SHA-256");
}

}  // namespace

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();

  State() { require(context != nullptr && EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1); }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}

Sha256::~Sha256() = default;

void Sha256::add(std::string_view piece) {
  require(EVP_DigestUpdate(state_->context, piece.data(), piece.size()) == 1);
}

std::string Sha256::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  require(EVP_DigestFinal_ex(state_->context, digest.data(), &length) == 1);
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < length; ++i) {
    text += kDigits[digest[i] >> 4];
    text += kDigits[digest[i] & 15];
  }
  return text;
}

#else

struct Sha256::State {};

Sha256::Sha256() = default;

Sha256::~Sha256() = default;

void Sha256::add(std::string_view) {}

std::string Sha256::finish() { return {}; }

#endif

std::string sha256_hex(std::string_view content) {
  Sha256 sum;
  sum.add(content);
  return sum.finish();
}

std::string sha256_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  Sha256 sum;
  std::string block(std::size_t{1} << 20, '\0');
  while (file) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    sum.add(std::string_view(block).substr(0, static_cast<std::size_t>(file.gcount())));
  }
  return sum.finish();
}

}  // namespace gradcast
