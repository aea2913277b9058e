// The same products with the instructions of processors since 2013. This file alone is compiled for
// them (CMakeLists.txt). Eigen gets another namespace here: otherwise the linker would take one of
// two equally named functions for both files, and an older processor would meet these instructions.
#define Eigen EigenAvx2
#define GRADCAST_INSTRUCTIONS avx2
#include "sim/lab/matrix_product_by_eigen.hpp"
