// Packers and unpackers on CUDA.
#include "kernels/device/make_packer.cuh"
