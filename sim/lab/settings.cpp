#include "sim/lab/settings.hpp"

#include <cmath>

namespace gradcast::lab {

double learning_rate_at(const TrainingSettings& settings, int iteration, int in_epoch) {
  const int warmup = settings.learning_rate_warmup * in_epoch;
  if (iteration >= warmup) return settings.learning_rate;
  return settings.learning_rate * (iteration + 1) / warmup;
}

double density_at(const TrainingSettings& settings, int epoch) {
  if (epoch + 1 >= settings.density_warmup) return settings.density;
  return std::pow(settings.density, (epoch + 1.0) / settings.density_warmup);
}

}  // namespace gradcast::lab
