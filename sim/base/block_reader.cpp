#include "sim/base/block_reader.hpp"

#include <utility>

#include "sim/base/error.hpp"

namespace gradcast {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 18;

}  // namespace

BlockReader::BlockReader(const std::filesystem::path& path, std::size_t most_bytes)
    : path_(path.string()), most_bytes_(most_bytes), file_(path), block_(kBlockBytes, '\0') {}

bool BlockReader::read_block() {
  left_ = {block_.data(), file_.read(block_.data(), block_.size())};
  return !left_.empty();
}

std::string_view BlockReader::counted(std::string_view text) {
  bytes_ += text.size();
  if (bytes_ > most_bytes_)
    throw DataError(path_, 0,
                    "has more than " + std::to_string(most_bytes_) + " bytes" +
                        (gunzip_ ? " when it is unpacked" : ""));
  return text;
}

std::string_view BlockReader::next() {
  if (!begun_) {
    begun_ = true;
    read_block();
    if (is_gzip(left_)) gunzip_ = std::make_unique<Gunzip>(path_);
  } else if (left_.empty()) {
    read_block();
  }
  if (!gunzip_) return counted(std::exchange(left_, {}));
  for (;;) {
    if (const std::string_view text = gunzip_->next(left_); !text.empty()) return counted(text);
    if (left_.empty() && !read_block()) break;
  }
  gunzip_->finish();
  return {};
}

std::string bytes_of_file(const std::filesystem::path& path, std::string_view begin,
                          std::size_t most_bytes) {
  BlockReader file(path, most_bytes);
  std::string bytes;
  for (std::string_view block = file.next(); !block.empty(); block = file.next()) {
    bytes += block;
    if (bytes.size() >= begin.size() && !bytes.starts_with(begin)) break;
  }
  return bytes;
}

}  // namespace gradcast
