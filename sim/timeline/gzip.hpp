// gzip, where this build has zlib.
#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace gradcast {

/// False where this build lacks zlib: then both below throw MissingError.
bool gzip_built();

/// Compresses text as it comes. Without a date and a name, so that equal texts give equal files.
class Gzip {
 public:
  Gzip();
  ~Gzip();
  void add(std::string_view text);
  /// All of it. To be called once.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// True of what begins as a gzip file does.
bool is_gzip(std::string_view bytes);

/// The text of a gzip file, of several members one after another. Throws DataError, with `file` as
/// its name, where it is damaged, cut off or longer than `most` bytes.
std::string gunzip(std::string_view bytes, const std::string& file, std::size_t most);

}  // namespace gradcast
