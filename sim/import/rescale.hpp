// A run as it is without the profiler that recorded it.
#pragma once
#include "sim/import/imported.hpp"

namespace gradcast {

/// Changes the times so that a step takes `iteration`. A profiler slows the host: where the GPU
/// waits for its host long enough, that waiting becomes shorter, the dates of launches come earlier
/// in proportion, and kernels take as long as before. Else every time is multiplied. Says in the
/// notes which. Throws ValueError where there are no times.
void rescale(Imported& imported, Seconds iteration);

}  // namespace gradcast
