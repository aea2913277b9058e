// PowerSGD's kernels, on the emulator.
#include "kernels/device/low_rank_encoder.cuh"
