#include <zlib.h>

#include <algorithm>
#include <stdexcept>

#include "sim/base/error.hpp"
#include "sim/timeline/gzip.hpp"

namespace gradcast {
namespace {

constexpr int kGzip = 15 + 16;  // the largest window, and gzip's header

constexpr std::size_t kBlock = std::size_t{1} << 16;

Bytef* bytes_of(std::string_view text) {
  // zlib does not write there; its interface is older than const.
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
}

}  // namespace

bool gzip_built() { return true; }

struct Gzip::State {
  z_stream stream{};
  std::string out;

  State() {
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
      throw std::runtime_error("zlib cannot begin");
  }
  ~State() { deflateEnd(&stream); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void pass(std::string_view text, int flush) {
    char block[kBlock];
    do {
      const std::size_t piece = std::min<std::size_t>(text.size(), 1u << 30);
      stream.next_in = bytes_of(text);
      stream.avail_in = static_cast<uInt>(piece);
      text.remove_prefix(piece);
      const int now = text.empty() ? flush : Z_NO_FLUSH;
      do {
        stream.next_out = reinterpret_cast<Bytef*>(block);
        stream.avail_out = kBlock;
        if (deflate(&stream, now) == Z_STREAM_ERROR) throw std::logic_error("zlib lost its state");
        out.append(block, kBlock - stream.avail_out);
      } while (stream.avail_out == 0);
    } while (!text.empty());
  }
};

Gzip::Gzip() : state_(std::make_unique<State>()) {}

Gzip::~Gzip() = default;

void Gzip::add(std::string_view text) {
  if (!text.empty()) state_->pass(text, Z_NO_FLUSH);
}

std::string Gzip::finish() {
  state_->pass({}, Z_FINISH);
  return std::move(state_->out);
}

std::string gunzip(std::string_view bytes, const std::string& file, std::size_t most) {
  struct Inflating {
    z_stream stream{};
    Inflating() {
      if (inflateInit2(&stream, kGzip) != Z_OK) throw std::runtime_error("zlib cannot begin");
    }
    ~Inflating() { inflateEnd(&stream); }
  } inflating;
  z_stream& stream = inflating.stream;
  std::string text;
  char block[kBlock];
  bool ended = false;
  std::size_t at = 0;
  while (at < bytes.size() || !ended) {
    if (ended) {
      if (!is_gzip(bytes.substr(at))) break;  // padding after the last member, as gzip allows
      inflateReset(&stream);
      ended = false;
    }
    const std::size_t piece = std::min<std::size_t>(bytes.size() - at, 1u << 30);
    stream.next_in = bytes_of(bytes.substr(at));
    stream.avail_in = static_cast<uInt>(piece);
    stream.next_out = reinterpret_cast<Bytef*>(block);
    stream.avail_out = kBlock;
    const int result = inflate(&stream, Z_NO_FLUSH);
    at += piece - stream.avail_in;
    const std::size_t got = kBlock - stream.avail_out;
    text.append(block, got);
    if (text.size() > most)
      throw DataError(file, 0,
                      "has more than " + std::to_string(most) + " bytes when it is unpacked");
    if (result == Z_STREAM_END)
      ended = true;
    else if (result == Z_BUF_ERROR || (result == Z_OK && got == 0 && at == bytes.size()))
      throw DataError(file, 0, "the gzip data is cut off after " + std::to_string(at) + " bytes");
    else if (result != Z_OK)
      throw DataError(file, 0, "the gzip data is damaged at byte " + std::to_string(at));
  }
  return text;
}

}  // namespace gradcast
