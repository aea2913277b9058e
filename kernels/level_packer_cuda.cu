// Level packers and unpackers on CUDA.
#include "kernels/device/make_level_packer.cuh"
