#include "sim/base/error.hpp"
#include "sim/base/gzip.hpp"

namespace gradcast {
namespace {

const std::string kNoZlib =
    "this build has no zlib (Debian: zlib1g-dev), so it cannot read or write .gz files";

}  // namespace

bool gzip_built() { return false; }

struct Gzip::State {};

Gzip::Gzip() { throw MissingError(kNoZlib); }

Gzip::~Gzip() = default;

void Gzip::add(std::string_view) {}

std::string Gzip::finish() { return {}; }

struct Gunzip::State {};

Gunzip::Gunzip(std::string file) { throw MissingError(file + ": " + kNoZlib); }

Gunzip::~Gunzip() = default;

std::string_view Gunzip::next(std::string_view&) { return {}; }

void Gunzip::finish() const {}

}  // namespace gradcast
