// gzip, if this build has zlib: gzip_zlib.cpp or gzip_none.cpp.
#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace gradcast {

/// False if this build lacks zlib. The constructors below then throw MissingError.
bool gzip_built();

/// Compresses text piece by piece. The result has no date and no name, so that equal texts give
/// equal files.
class Gzip {
 public:
  Gzip();
  ~Gzip();
  void add(std::string_view text);
  /// Ends the compression and returns all of the result. May be called once.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// True for data that begins as a gzip file does.
inline bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

/// Unpacks a gzip file piece by piece. The file may have several members.
class Gunzip {
 public:
  /// `file` names the data in errors.
  explicit Gunzip(std::string file);
  ~Gunzip();
  /// Unpacks the beginning of `packed`, and removes from it what was used. The text is valid until
  /// the next call. It may be empty, also before all of `packed` is used. Throws DataError for
  /// damaged data, and for data that unpacks to more than kMostUnpacking times its size.
  std::string_view next(std::string_view& packed);
  /// Throws DataError if the data, which has come to its end, is cut off.
  void finish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gradcast
