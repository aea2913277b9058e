// Encoders and decoders on CUDA.
#include "kernels/device/make.cuh"
