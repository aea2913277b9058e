// The packing kernels, on the emulator.
#include "kernels/device/make_packer.cuh"
