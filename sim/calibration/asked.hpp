// The request that the command line of `calibrate` makes.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.hpp"
#include "sim/calibration/points.hpp"
#include "sim/calibration/recorded.hpp"
#include "sim/inputs/data_files.hpp"
#include "sim/inputs/model.hpp"
#include "sim/options/flags.hpp"

namespace gradcast {

/// The device: gpu, gpu:N or cpu; the default is gpu.
struct DeviceAsked {
  bool gpu = true;
  int number = 0;
};

struct CalibrationAsked {
  DeviceAsked device;
  std::vector<Model> models;
  PointsAsked points;                  // without sets
  std::vector<RecordedFile> recorded;  // the files of points.recorded
  bool sweep = false;
  std::optional<std::vector<std::string>> baselines;  // nothing where they are not said
  Seconds point_seconds{1};
  std::optional<Seconds> budget{};  // none: all points, however long they take
};

Flags calibration_flags();

/// Throws UsageError, and DataError for models.
CalibrationAsked read_calibration_asked(const Flags& flags, DataFiles& files);

}  // namespace gradcast
