#include "sim/import/protobuf_wire.hpp"

#include <algorithm>

namespace gradcast {
namespace {

constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 16;

constexpr int kMostVarintBytes = 10;

}  // namespace

ByteSource::ByteSource(const std::filesystem::path& path)
    : name_(path.string()), file_(path, std::ios::binary | std::ios::ate) {
  std::error_code ignored;
  if (!file_ || std::filesystem::is_directory(path, ignored))
    throw DataError(name_, 0, "cannot read this file");
  size_ = static_cast<std::uint64_t>(file_.tellg());
}

ByteSource::ByteSource(std::string name, std::string_view bytes)
    : name_(std::move(name)), size_(bytes.size()), window_(bytes) {}

void ByteSource::load(std::uint64_t place) {
  window_begin_ = place;
  block_.resize(std::min(kWindowBytes, size_ - place));
  file_.clear();
  file_.seekg(static_cast<std::streamoff>(place));
  file_.read(block_.data(), static_cast<std::streamsize>(block_.size()));
  if (!file_) throw DataError(name_, 0, "cannot read this file on, or it became shorter");
  window_ = block_;
}

unsigned char ByteSource::at(std::uint64_t place) {
  if (place < window_begin_ || place - window_begin_ >= window_.size()) load(place);
  return static_cast<unsigned char>(window_[place - window_begin_]);
}

std::string ByteSource::copy(std::uint64_t begin, std::uint64_t end) {
  std::string bytes;
  bytes.reserve(end - begin);
  for (std::uint64_t place = begin; place < end; ++place) bytes += static_cast<char>(at(place));
  return bytes;
}

DataError WireMessage::failure(const std::string& what) const {
  return {source_.name(), 0, "byte " + std::to_string(at_) + ": " + what};
}

std::uint64_t WireMessage::varint() {
  std::uint64_t number = 0;
  for (int i = 0; i < kMostVarintBytes; ++i) {
    if (at_ >= end_) throw failure("a number goes on beyond its message, so this is no protobuf");
    const unsigned char byte = source_.at(at_++);
    number |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) == 0) return number;
  }
  throw failure("a number has more than 10 bytes, so this is no protobuf");
}

std::uint64_t WireMessage::fixed(int bytes) {
  if (end_ - at_ < static_cast<std::uint64_t>(bytes))
    throw failure("a number goes on beyond its message, so this is no protobuf");
  std::uint64_t number = 0;
  for (int i = 0; i < bytes; ++i)
    number |= static_cast<std::uint64_t>(source_.at(at_++)) << (8 * i);
  return number;
}

bool WireMessage::next() {
  if (at_ >= end_) return false;
  const std::uint64_t key = varint();
  constexpr std::uint64_t kMostFields = (std::uint64_t{1} << 29) - 1;
  if (key >> 3 == 0 || key >> 3 > kMostFields)
    throw failure("a field has the number " + std::to_string(key >> 3) +
                  ", so this is no protobuf");
  field_ = static_cast<std::uint32_t>(key >> 3);
  type_ = static_cast<int>(key & 7);
  number_ = 0;
  begin_of_field_ = end_of_field_ = at_;
  switch (type_) {
    case 0:
      number_ = varint();
      return true;
    case 1:
      number_ = fixed(8);
      return true;
    case 5:
      number_ = fixed(4);
      return true;
    case kBytes: {
      const std::uint64_t length = varint();
      if (length > end_ - at_)
        throw failure("field " + std::to_string(field_) + " has " + std::to_string(length) +
                      " bytes, of which " + std::to_string(end_ - at_) +
                      " follow; is the file cut off?");
      begin_of_field_ = at_;
      at_ += length;
      end_of_field_ = at_;
      return true;
    }
    default:
      throw failure("a field of a kind that there is not, so this is no protobuf");
  }
}

std::string WireMessage::text(std::uint64_t most) const {
  if (length() > most)
    throw failure("a text of " + std::to_string(length()) + " bytes; the most is " +
                  std::to_string(most));
  return source_.copy(begin_of_field_, end_of_field_);
}

void WireMessage::append_to(std::vector<std::int64_t>& numbers, std::size_t most) const {
  const auto add = [&](std::uint64_t number) {
    if (numbers.size() == most)
      throw failure("a list of more than " + std::to_string(most) + " numbers");
    numbers.push_back(static_cast<std::int64_t>(number));
  };
  if (is_number()) return add(number_);
  WireMessage packed = message();
  while (packed.at_ < packed.end_) add(packed.varint());
}

}  // namespace gradcast
