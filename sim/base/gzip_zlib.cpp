#include <zlib.h>

#include <algorithm>
#include <stdexcept>

#include "sim/base/error.hpp"
#include "sim/base/gzip.hpp"
#include "sim/base/limits.hpp"

namespace gradcast {
namespace {

constexpr int kGzip = 15 + 16;  // the largest window, and gzip's header

constexpr std::size_t kBlock = std::size_t{1} << 16;

/// Unpacked size that is small enough, however it was packed.
constexpr std::size_t kSmallUnpacked = std::size_t{1} << 22;

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

struct Gunzip::State {
  std::string file;
  z_stream stream{};
  std::unique_ptr<char[]> block{new char[kBlock]};
  bool begun = false;    // a member has begun
  bool ended = false;    // ... and has ended; another may follow
  bool more = false;     // is unpacked, and had no place in the block
  bool padding = false;  // what follows the last member, as gzip allows
  std::size_t used = 0;
  std::size_t unpacked = 0;

  explicit State(std::string its_file) : file(std::move(its_file)) {
    if (inflateInit2(&stream, kGzip) != Z_OK) throw std::runtime_error("zlib cannot begin");
  }
  ~State() { inflateEnd(&stream); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// False where the file ends with what is no member.
  bool begin_member(std::string_view packed) {
    begun = true;
    if (!ended) return true;
    // A header may be cut in two by a block's end; its first byte tells enough then.
    padding = packed.front() != '\x1f';
    if (padding) return false;
    inflateReset(&stream);
    ended = false;
    return true;
  }

  void require_sane_size() const {
    if (unpacked > kSmallUnpacked && unpacked / kMostUnpacking > used)
      throw DataError(file, 0,
                      "unpacks to more than " + std::to_string(kMostUnpacking) +
                          " times its size, which no trace or result does");
  }
};

Gunzip::Gunzip(std::string file) : state_(std::make_unique<State>(std::move(file))) {}

Gunzip::~Gunzip() = default;

std::string_view Gunzip::next(std::string_view& packed) {
  State& its = *state_;
  if (packed.empty() && !its.more) return {};
  if (its.padding || !its.begin_member(packed)) {
    packed = {};
    return {};
  }
  const std::size_t piece = std::min<std::size_t>(packed.size(), 1u << 30);
  z_stream& stream = its.stream;
  stream.next_in = bytes_of(packed);
  stream.avail_in = static_cast<uInt>(piece);
  stream.next_out = reinterpret_cast<Bytef*>(its.block.get());
  stream.avail_out = kBlock;
  const int result = inflate(&stream, Z_NO_FLUSH);
  const std::size_t used = piece - stream.avail_in;
  packed.remove_prefix(used);
  its.used += used;
  if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
    throw DataError(its.file, 0, "the gzip data is damaged at byte " + std::to_string(its.used));
  its.ended = result == Z_STREAM_END;
  its.more = !its.ended && stream.avail_out == 0;
  const std::size_t got = kBlock - stream.avail_out;
  its.unpacked += got;
  its.require_sane_size();
  return {its.block.get(), got};
}

void Gunzip::finish() const {
  if (!state_->begun || !state_->ended)
    throw DataError(state_->file, 0,
                    "the gzip data is cut off after " + std::to_string(state_->used) + " bytes");
}

}  // namespace gradcast
