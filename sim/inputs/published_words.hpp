// Sentences on the accuracies that others published: an iteration's time is half an answer.
#pragma once
#include <string>

#include "sim/inputs/data_files.hpp"

namespace gradcast {

/// "Time is not all: ..." for each source that trained the model with the compressor at this
/// density and without it; "" where nobody did. The files that say so become inputs.
std::string published_accuracy_words(const std::string& model, const std::string& compressor,
                                     double density, DataFiles& files);

}  // namespace gradcast
