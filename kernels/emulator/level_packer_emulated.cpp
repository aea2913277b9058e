// The kernels of shared levels, on the emulator.
#include "kernels/device/make_level_packer.cuh"
