// A fixed threshold: all that is larger in magnitude is sent, be it nothing or everything. Strom,
// "Scalable distributed DNN training using commodity GPU cloud computing", Interspeech 2015, sends
// the threshold with a sign in place of such a value. Here the value itself is sent, as GRACE does
// (sands-lab/grace, grace_dl/tensorflow/helper.py@0bd31c5: 0.01 where none is given).
#include "kernels/reference.hpp"
#include "kernels/rule.hpp"

namespace gradcast::compressors {
namespace {

Encoded threshold_encode(std::span<const float> gradient, std::span<float> residual,
                         const Selection& selection, const SparseOutput& output) {
  require_mode("threshold", false, selection.mode);
  return noting_unfinite(form_u(gradient, residual), [&](std::span<float> u) {
    return emit(u, output, all_from(least_key_above(selection.threshold)));
  });
}

}  // namespace

extern constinit const Compressor threshold{
    .name = "threshold",
    .summary = "all elements above a fixed threshold",
    .aggregation = Aggregation::AllGather,
    .source = "Strom, Interspeech 2015, as GRACE has it (ICDCS 2021)",
    .parameter = {.name = "threshold",
                  .meaning = "elements of a larger magnitude are sent",
                  .usual = 0.01,
                  .least = 0,
                  .most = 1e30,
                  .whole = false,
                  .selects = true},
    .exact_count = false,
    .rule = Rule::Threshold,
    .encode = threshold_encode,
};

}  // namespace gradcast::compressors
