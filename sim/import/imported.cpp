#include "sim/import/imported.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/error.hpp"

namespace gradcast {
namespace {

void scale_launches(IterationTrace& trace, double factor) {
  for (TensorTime& time : trace.tensors) {
    time.forward_launch *= factor;
    time.backward_launch *= factor;
  }
  trace.update_launch *= factor;
  trace.host *= factor;
}

void scale_all(ImportedTimes& times, double factor) {
  for (Seconds ImportedTimes::*member :
       {&ImportedTimes::window, &ImportedTimes::compute, &ImportedTimes::exposed,
        &ImportedTimes::idle, &ImportedTimes::busy, &ImportedTimes::host, &ImportedTimes::wait,
        &ImportedTimes::other, &ImportedTimes::forward, &ImportedTimes::backward,
        &ImportedTimes::recompute, &ImportedTimes::update})
    times.*member *= factor;
}

}  // namespace

std::string to_string(ShapesFrom shapes) {
  switch (shapes) {
    case ShapesFrom::Recorded:
      return "recorded";
    case ShapesFrom::Inferred:
      return "inferred";
    case ShapesFrom::Given:
      return "given";
    case ShapesFrom::Unknown:
      break;
  }
  return "unknown";
}

Fusion fusion_of(const Imported& imported) {
  if (sends_each(imported) || sharded(imported)) return parse_fusion("layer");
  Fusion ddp = parse_fusion(imported.finds_unused ? "ddp-find-unused" : "ddp");
  const auto makes_them = [&](const Fusion& fusion) {
    const std::vector<Bucket> buckets = make_buckets(*imported.model, fusion);
    return std::equal(
        buckets.begin(), buckets.end(), imported.buckets.begin(), imported.buckets.end(),
        [](const Bucket& a, std::int64_t elements) { return a.elements == elements; });
  };
  if (!imported.model || imported.buckets.size() < 2 || makes_them(ddp)) return ddp;
  // A bucket that is full has its size or more.
  constexpr std::int64_t kMiB = 1 << 20, kElements = kMiB / 4, kMostMiB = 4096;
  const std::int64_t most = std::min(
      kMostMiB, *std::max_element(imported.buckets.begin(), imported.buckets.end()) / kElements);
  Fusion sized = ddp;
  for (const std::int64_t unit : {100, 25, 10, 5, 1})
    for (std::int64_t mib = unit; mib <= most; mib += unit) {
      sized.size = sized.first = Bytes{mib * kMiB};
      if (makes_them(sized)) return sized;
    }
  return ddp;
}

void note_doubts(Imported& imported) {
  if (!imported.model || imported.buckets.empty()) return;
  const std::int64_t sent =
      std::accumulate(imported.buckets.begin(), imported.buckets.end(), std::int64_t{0});
  const std::int64_t have = imported.model->elements();
  // Sizes that were inferred are within some elements of the true ones, and shards are padded.
  constexpr double kNear = 0.01;
  const auto apart = static_cast<double>(std::abs(sent - have));
  if (sent == have || ((imported.shapes != ShapesFrom::Recorded || sharded(imported)) &&
                       apart <= kNear * static_cast<double>(std::max(sent, have))))
    return;
  imported.notes.unknown.push_back(
      "why the buckets have " + std::to_string(sent) + " elements and the gradients " +
      std::to_string(have) +
      ": gradients may be missing or counted twice, or sent elsewhere; check the model before you "
      "use it");
}

void rescale(Imported& imported, Seconds iteration) {
  if (!imported.times || imported.times->window <= Seconds{0})
    throw ValueError("these files have no times that could be scaled");
  ImportedTimes& times = *imported.times;
  const double factor = iteration / times.window;
  const Seconds cut = times.window - iteration;
  const std::string step = "a step of " + to_text(iteration) + ", as the user says: ";
  if (imported.trace && imported.trace->has_launches() && cut >= Seconds{0} &&
      cut <= std::min(times.host, times.idle)) {
    times.window = iteration;
    times.host -= cut;
    times.idle -= cut;
    scale_launches(*imported.trace, factor);
    imported.notes.inferred.push_back(step + "the GPU waits " +
                                      to_text(Seconds{rounded_to(3, cut.count())}) +
                                      " less for its host, kernels take as long as before");
    return;
  }
  scale_all(times, factor);
  if (imported.trace)
    imported.trace = scaled_to(*imported.trace, imported.trace->iteration_alone(1) * factor);
  imported.notes.inferred.push_back(step + "all times, multiplied by " +
                                    number_to_text(rounded_to(4, factor)));
}

}  // namespace gradcast
