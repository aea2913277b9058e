// Statistics of u = gradient + residual: the paper's Fig. 2, 7 and 8.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "sim/answers/document.hpp"
#include "sim/lab/exchange.hpp"
#include "sim/lab/layer.hpp"

namespace gradcast::lab {

/// The name of the whole model among its tensors.
inline constexpr const char* kAllTensors = "all";

/// Number of elements from `from` to below `to`. Both are multiples of the standard deviation.
struct Bin {
  double from = 0;
  double to = 0;
  std::int64_t count = 0;
};

/// The elements of a vector.
struct Observation {
  int iteration = 0;   // from 1
  std::string tensor;  // a tensor of the network, or kAllTensors
  std::int64_t elements = 0;
  double mean = 0;
  double deviation = 0;  // around the mean
  double kurtosis = 0;   // fourth moment / squared variance: 3 for a normal distribution
  std::int64_t zeros = 0;
  std::vector<Bin> bins;  // a tenth of a deviation each; the outer two hold all that lies beyond 6
};

/// Elements that are not finite are left out.
Observation observed(std::span<const float> u, int iteration, const std::string& tensor);

/// Observes u of the first worker: the whole model's and each tensor's.
std::vector<Observation> observe(const Exchange& exchange,
                                 const std::vector<ParameterTensor>& tensors, int iteration);

/// The same with its bins that are not empty, for the answer of `gradcast train`.
Json observation_json(const Observation& observation);

/// Moments of u of the whole model, a line each iteration, for people; "" without observations.
std::string observations_table(const std::vector<Observation>& observations);

/// A row a bin that is not empty.
std::string observations_csv(const std::vector<Observation>& observations);

/// Writes u of the first worker as a NumPy file, u-<iteration>.npy; returns its path.
std::filesystem::path record_u(const Exchange& exchange, int iteration,
                               const std::filesystem::path& folder);

}  // namespace gradcast::lab
