// protobuf's wire format, for the few fields that readers want: a message is a row of fields, each
// a number, a piece of bytes, or a message again. Fields that a reader does not ask for are skipped
// unread.
#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/error.hpp"

namespace gradcast {

/// Bytes by their place: of a file of any length, or of a text.
class ByteSource {
 public:
  /// Throws DataError for a file that cannot be read.
  explicit ByteSource(const std::filesystem::path& path);
  /// The bytes must outlive this object. `name` is the file's, for errors.
  ByteSource(std::string name, std::string_view bytes);

  const std::string& name() const { return name_; }
  std::uint64_t size() const { return size_; }
  /// The byte at a place below size().
  unsigned char at(std::uint64_t place);
  std::string copy(std::uint64_t begin, std::uint64_t end);

 private:
  void load(std::uint64_t place);

  std::string name_;
  std::uint64_t size_ = 0;
  std::ifstream file_;
  std::string block_;
  std::string_view window_;  // of the source, as it is in memory
  std::uint64_t window_begin_ = 0;
};

/// Reads one message, field by field. Throws DataError for what is no protobuf.
class WireMessage {
 public:
  /// The whole source is one message.
  explicit WireMessage(ByteSource& source) : WireMessage(source, 0, source.size()) {}

  /// Goes to the next field; false at the message's end.
  bool next();
  /// Its number.
  std::uint32_t field() const { return field_; }

  bool is_number() const { return type_ != kBytes; }
  bool is_bytes() const { return type_ == kBytes; }
  /// A varint, or the bits of a fixed number. 0 where the field is bytes.
  std::uint64_t number() const { return number_; }
  /// Likewise as the signed number that int32 and int64 mean.
  std::int64_t integer() const { return static_cast<std::int64_t>(number_); }
  /// Number of bytes of a field of bytes.
  std::uint64_t length() const { return end_of_field_ - begin_of_field_; }
  /// The place in the source where these bytes begin.
  std::uint64_t place() const { return begin_of_field_; }
  /// Throws DataError for more than `most` bytes.
  std::string text(std::uint64_t most = std::uint64_t{1} << 20) const;
  /// The field's bytes as a message.
  WireMessage message() const { return {source_, begin_of_field_, end_of_field_}; }
  /// A repeated number, packed or alone: appended to `numbers`. Throws DataError for more than
  /// `most` in all.
  void append_to(std::vector<std::int64_t>& numbers, std::size_t most) const;

  DataError failure(const std::string& what) const;

 private:
  static constexpr int kBytes = 2;

  WireMessage(ByteSource& source, std::uint64_t begin, std::uint64_t end)
      : source_(source), at_(begin), end_(end) {}
  std::uint64_t varint();
  std::uint64_t fixed(int bytes);

  ByteSource& source_;
  std::uint64_t at_;
  std::uint64_t end_;
  std::uint32_t field_ = 0;
  int type_ = 0;
  std::uint64_t number_ = 0;
  std::uint64_t begin_of_field_ = 0;
  std::uint64_t end_of_field_ = 0;
};

}  // namespace gradcast
