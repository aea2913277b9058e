// The results of `gradcast tta` in sentences.
#pragma once
#include <string>
#include <vector>

#include "sim/tta/accuracy_break_even.hpp"
#include "sim/tta/time_to_accuracy.hpp"

namespace gradcast {

/// "12.3 s", "34 min", "5.6 h": for people.
std::string duration_text(Seconds time);

/// One of dense's times: "dense reaches 85 % after 319 iterations ...".
std::string dense_sentence(const TimeToAccuracy& one, const std::string& name);

/// One of a compressor, beside dense where there is one.
std::string compressor_sentence(const TimeToAccuracy& one, const std::string& name);

/// "topk, by physics alone, over nic-bandwidth: ..."
std::string break_even_sentence(const AccuracyBreakEven& found, const std::string& name,
                                Quantity over);

/// The amount that training and forecast send, if it is much more or less than k. Otherwise "".
std::string traffic_sentence(const TrainedSetup& setup, const TimedSetup& timed,
                             const std::string& name);

/// Theorem 2 of Understanding Top-k Sparsification beside the iterations of Top-k's trainings to
/// the target. "" for other compressors, and if they or dense did not get there.
std::string theorem_sentence(const TrainedSetup& setup, const TimeToAccuracy& one,
                             const std::string& name);

/// Weak points of the forecasts: compressor costs that nobody measured, and software never seen
/// under such conditions.
std::vector<std::string> doubt_sentences(const std::vector<TimedSetup>& timed);

}  // namespace gradcast
