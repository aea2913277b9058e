// The least time of an operator: its arithmetic at the peak, or its traffic at full bandwidth.
#pragma once
#include "sim/base/units.hpp"
#include "sim/generate/architecture.hpp"
#include "sim/generate/published_gpu.hpp"

namespace gradcast {

struct ComputeTime {
  Seconds forward{0};
  Seconds backward{0};
};

/// The time of a whole batch in fp32. `first`: no gradient of the input is needed.
ComputeTime roofline(const Operator& each, int batch, bool first,
                     const PublishedGpu& device = kV100);

}  // namespace gradcast
