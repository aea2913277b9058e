#include "sim/compare/split.hpp"

namespace gradcast {

std::vector<SplitPart> split_of(const ComparedRun& compared) {
  const IterationResult& forecast = compared.forecast;
  return {{"computing", forecast.forward + forecast.backward + forecast.update},
          {"codec", forecast.encode + forecast.decode},
          {"exposed_communication", forecast.exposed_communication},
          {"hidden_communication", forecast.communication - forecast.exposed_communication, false},
          {"overhead_and_wait", forecast.overhead + forecast.wait},
          {"unexplained", compared.unexplained()}};
}

std::optional<double> MeasuredPart::error_percent() const {
  if (measured <= Seconds{0}) return std::nullopt;
  return 100 * ((predicted - measured) / measured);
}

std::vector<MeasuredPart> measured_parts_of(const ComparedRun& compared) {
  std::vector<MeasuredPart> parts;
  if (compared.run.measured_encode)
    parts.push_back({"encode", *compared.run.measured_encode, compared.forecast.encode});
  if (compared.run.measured_decode)
    parts.push_back({"decode", *compared.run.measured_decode, compared.forecast.decode});
  if (compared.run.measured_communication)
    parts.push_back(
        {"communication", *compared.run.measured_communication, compared.forecast.communication});
  return parts;
}

}  // namespace gradcast
