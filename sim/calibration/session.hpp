// A calibration under way: the device, the meter and the request.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "kernels/bench/bench.hpp"
#include "sim/answers/answer.hpp"
#include "sim/calibration/asked.hpp"
#include "sim/calibration/meter.hpp"
#include "sim/calibration/points.hpp"

namespace gradcast {

/// Throws MissingError if there is no such device.
std::unique_ptr<Bench> open_device(const DeviceAsked& asked);

struct Session {
  const Flags& flags;
  DataFiles& files;
  const CalibrationAsked& asked;
  Bench& bench;
  BenchDevice device;
  std::vector<std::string> baselines;
  Meter meter;

  Session(const Flags& flags, DataFiles& files, const CalibrationAsked& asked, Bench& bench);

  void note(const std::string& line) const { flags.note(line); }
  void note_discarded() const;
  void deliver(Answer answer) const;

  /// The points of `wanted` that this device can measure. Notes say what is left out.
  std::vector<CalibrationPoint> points(const PointsAsked& wanted) const;

  /// Starts torch if some of these points need it, and returns the child's version. If torch is
  /// missing, its points are dropped; throws MissingError if it was asked for by name.
  std::string start_torch(std::vector<CalibrationPoint>& points);

 private:
  std::vector<std::string> torch_command() const;
};

}  // namespace gradcast
