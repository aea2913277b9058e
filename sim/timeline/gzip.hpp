// gzip, if this build has zlib.
#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace gradcast {

/// False if this build lacks zlib. The two below then throw MissingError.
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
bool is_gzip(std::string_view bytes);

/// The text of a gzip file, which may have several members. Throws DataError, with `file` as its
/// name, if the data is damaged, cut off or longer than `most` bytes.
std::string gunzip(std::string_view bytes, const std::string& file, std::size_t most);

}  // namespace gradcast
