#include "sim/calibration/session.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

#include "kernels/gpu.hpp"
#include "sim/base/error.hpp"
#include "sim/base/paths.hpp"

namespace gradcast {
namespace {

/// The speed of points whose samples take longer than the time they are given. On a CPU 40 M
/// elements took 3.5 s with any compressor. For a GPU it is a guess, and matters above 100 M
/// elements only.
constexpr double kCpuElementsPerSecond = 1e7;
constexpr double kGpuElementsPerSecond = 1e8;

std::vector<std::string> default_baselines(const DeviceAsked& device) {
  if (!device.gpu) return {};
  return {"cub", kTorch};
}

}  // namespace

std::unique_ptr<Bench> open_device(const DeviceAsked& asked) {
  if (!asked.gpu) return make_cpu_bench();
  if (std::unique_ptr<Bench> bench = make_gpu_bench(asked.number)) return bench;
  const std::string why = !built_with_cuda() ? "the GPU is not in this build: configure with "
                                               "-DWITH_CUDA=ON, which needs a CUDA compiler"
                          : gpu_devices().empty()
                              ? "CUDA finds no GPU on this machine"
                              : "there is no GPU " + std::to_string(asked.number);
  throw MissingError(why + "; --device cpu measures on the CPU");
}

Session::Session(const Flags& flags, DataFiles& files, const CalibrationAsked& asked, Bench& bench)
    : flags(flags),
      files(files),
      asked(asked),
      bench(bench),
      device(bench.device()),
      baselines(asked.baselines.value_or(default_baselines(asked.device))),
      meter(bench, asked.point_seconds,
            asked.device.gpu ? kGpuElementsPerSecond : kCpuElementsPerSecond) {}

void Session::note_discarded() const {
  if (meter.discarded() > 0)
    note(std::to_string(meter.discarded()) +
         " samples were discarded: the device's clock was throttled");
}

void Session::deliver(Answer answer) const {
  answer.seed = asked.points.seed;
  std::vector<InputFile> inputs = files.inputs();
  for (const RecordedFile& recorded : asked.recorded) inputs.push_back(recorded.file);
  gradcast::deliver(flags, inputs, "", answer);
}

std::vector<CalibrationPoint> Session::points(const PointsAsked& wanted) const {
  const auto baseline = [&](const std::string& name) {
    return std::find(baselines.begin(), baselines.end(), name) != baselines.end();
  };
  std::set<std::string> there{kTorch};  // whether torch is there shows when it is started
  PointsOffered offered;
  offered.memory_bytes = device.memory_bytes;
  offered.memory_needed = [&](const BenchPoint& point) { return bench.memory_needed(point); };
  offered.implementations = [&](const std::string& compressor, Mode mode) {
    std::vector<std::string> names;
    for (const std::string& name : bench.implementations(compressor, mode))
      if (name.starts_with("gradcast") || baseline(name)) names.push_back(name);
    there.insert(names.begin(), names.end());
    if (baseline(kTorch)) names.emplace_back(kTorch);
    return names;
  };
  CalibrationPoints made = make_points(wanted, offered);
  for (const std::string& line : made.notes) note(line);
  if (asked.baselines)
    for (const std::string& name : *asked.baselines)
      if (!there.contains(name)) note("no '" + name + "' on this device for these compressors");
  return made.points;
}

std::string Session::start_torch(std::vector<CalibrationPoint>& points) {
  const auto of_torch = [](const CalibrationPoint& point) {
    return point.call.implementation == kTorch;
  };
  if (std::none_of(points.begin(), points.end(), of_torch)) return "";
  try {
    return meter.start_torch(torch_command());
  } catch (const TorchGone& gone) {
    if (asked.baselines) throw MissingError("--baselines torch: " + std::string(gone.what()));
    note("torch is left out: " + std::string(gone.what()));
    std::erase_if(points, of_torch);
    return "";
  }
}

/// The script lies in the source tree, or with the installed data.
std::vector<std::string> Session::torch_command() const {
  const char* const python = std::getenv("GRADCAST_PYTHON");
  std::filesystem::path script = files.root() / "kernels" / "bench" / "torch_baseline.py";
  if (const auto installed = files.root() / "torch_baseline.py"; entry_at(installed) != Entry::None)
    script = installed;
  return {python != nullptr && *python != '\0' ? python : "python3", script.string(), "--serve",
          "--device", asked.device.gpu ? "cuda:" + std::to_string(asked.device.number) : "cpu"};
}

}  // namespace gradcast
