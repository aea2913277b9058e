#include "sim/base/gzip.hpp"

namespace gradcast {

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

}  // namespace gradcast
