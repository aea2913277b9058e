#include "sim/base/block_reader.hpp"

#include <utility>

#include "sim/base/error.hpp"

namespace gradcast {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 18;

}  // namespace

BlockReader::BlockReader(const std::filesystem::path& path, std::size_t most_bytes)
    : path_(path.string()), most_bytes_(most_bytes), file_(path, std::ios::binary) {
  std::error_code ignored;
  // A folder opens like a file, and reads like an empty one.
  if (!file_ || std::filesystem::is_directory(path, ignored))
    throw DataError(path_, 0, "cannot read this file");
  block_.resize(kBlockBytes);
}

bool BlockReader::read_block() {
  file_.read(block_.data(), static_cast<std::streamsize>(block_.size()));
  if (file_.bad()) throw DataError(path_, 0, "cannot read this file");
  left_ = {block_.data(), static_cast<std::size_t>(file_.gcount())};
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

}  // namespace gradcast
