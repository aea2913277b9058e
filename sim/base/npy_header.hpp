// The header of a NumPy file: "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }".
#pragma once
#include <cstddef>
#include <string_view>

namespace gradcast {

struct NpyHeader {
  std::size_t element_bytes = 0;  // 4: float32, 8: float64
  std::size_t elements = 0;       // 1 to kMostVectorElements
};

/// Of a vector of float32 or float64, little-endian. Throws ValueError, whose text goes on after a
/// file's name, for any other array: "has the shape (2, 3); ...".
NpyHeader parse_npy_header(std::string_view text);

}  // namespace gradcast
