// Cases for casts and quantisers.
#pragma once
#include <stdexcept>

#include "tests/kernels/cases.hpp"

namespace gradcast::cases {

struct PackAnswer {
  std::vector<std::uint32_t> words;
  std::vector<float> residual;
  std::uint32_t status = 0;
};

/// An empty residual is no error feedback.
inline PackAnswer pack_reference_answer(const Compressor& compressor, const Vectors& vectors,
                                        const PackSettings& settings) {
  const auto elements = static_cast<std::int64_t>(vectors.gradient.size());
  PackAnswer answer;
  answer.residual = vectors.residual;
  answer.words.resize(
      static_cast<std::size_t>(compressor.packing->words(elements, settings.parameter)));
  answer.status =
      compressor.packing->encode(vectors.gradient, answer.residual, settings, answer.words);
  return answer;
}

struct PackCase {
  std::int64_t elements;
  NamedInput input;
  const Compressor* compressor;
  PackSettings settings;
};

inline std::ostream& operator<<(std::ostream& out, const PackCase& one) {
  return out << one.compressor->name << " (" << one.settings.parameter << "), " << one.elements
             << " elements of " << one.input.name << ", seed " << one.settings.seed;
}

inline const Compressor& packer(std::string_view name) {
  for (const Compressor* compressor : all_packers())
    if (compressor->name == name) return *compressor;
  throw std::logic_error("no such packer");
}

/// The usual parameter, and both ends of what is allowed.
inline std::vector<double> parameters_of(const Compressor& compressor) {
  const Parameter& parameter = compressor.parameter;
  if (parameter.name.empty()) return {0};
  return {parameter.usual, parameter.least, parameter.most};
}

/// visit(case, vectors) for every size x input x packer x parameter; `one_in` keeps one in so many.
template <typename Visit>
void for_each_pack_case(std::span<const std::int64_t> sizes, std::size_t one_in, Visit visit) {
  std::size_t number = 0;
  for (const std::int64_t elements : sizes)
    for (const NamedInput& input : kInputs) {
      const Vectors vectors = make_vectors(input.input, elements, 1);
      for (const Compressor* compressor : all_packers())
        for (const double parameter : parameters_of(*compressor)) {
          if (number++ % one_in != 0) continue;
          visit(PackCase{elements, input, compressor, {parameter, number}}, vectors);
        }
    }
}

}  // namespace gradcast::cases
