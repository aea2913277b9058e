// The same loops with the instructions of processors since 2013. This file alone is compiled for
// them (CMakeLists.txt).
#define GRADCAST_INSTRUCTIONS avx2
#include "sim/lab/plane_loops_by_vectors.hpp"
