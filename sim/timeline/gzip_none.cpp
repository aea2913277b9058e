#include "sim/base/error.hpp"
#include "sim/timeline/gzip.hpp"

namespace gradcast {
namespace {

MissingError no_zlib() {
  return MissingError(
      "this build has no zlib (Debian: zlib1g-dev), so it cannot read or write .gz files");
}

}  // namespace

bool gzip_built() { return false; }

struct Gzip::State {};

Gzip::Gzip() { throw no_zlib(); }

Gzip::~Gzip() = default;

void Gzip::add(std::string_view) {}

std::string Gzip::finish() { return {}; }

std::string gunzip(std::string_view, const std::string& file, std::size_t) {
  throw MissingError(file + ": " + no_zlib().what());
}

}  // namespace gradcast
