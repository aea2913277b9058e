// The same kernels, on the emulator.
#include "kernels/device/make.cuh"
