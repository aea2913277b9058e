// PowerSGD's encoders on CUDA.
#include "kernels/device/low_rank_encoder.cuh"
