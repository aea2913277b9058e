// The device, the meter and everything that is asked of them.
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

/// Throws MissingError where there is no such device.
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

  /// What of `wanted` this device can measure; notes tell what is left out.
  std::vector<CalibrationPoint> points(const PointsAsked& wanted) const;

  /// Where points of torch are among these. Returns the child's version. Where torch is not there,
  /// its points are dropped; throws MissingError if it was asked for by name.
  std::string start_torch(std::vector<CalibrationPoint>& points);

 private:
  std::vector<std::string> torch_command() const;
};

}  // namespace gradcast
