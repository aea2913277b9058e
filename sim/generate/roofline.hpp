// The roofline of a GPU whose figures are published here.
#pragma once
#include "sim/generate/published_gpu.hpp"
#include "sim/import/roofline/roofline.hpp"

namespace gradcast {

/// In fp32.
inline RooflinePeaks peaks_of(const PublishedGpu& device) {
  return {device.flops_per_second, device.bandwidth};
}

}  // namespace gradcast
