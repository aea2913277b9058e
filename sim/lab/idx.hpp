// The IDX files of MNIST (LeCun, Cortes and Burges): a header that says type and sizes, then bytes.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gradcast::lab {

struct Idx {
  std::vector<std::size_t> sizes;  // one per dimension; the first counts samples
  std::string_view bytes;          // a view of what was given
};

/// `file` names the data in errors. Throws DataError for another type than unsigned bytes, for 0 or
/// more than 4 dimensions, and where there are fewer or more bytes than the sizes say.
Idx read_idx(const std::string& file, std::string_view content);

}  // namespace gradcast::lab
