// The C interface to the definitions (include/gradcast/compressors.h): checks what a caller gave,
// and calls. Nothing is computed here.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "include/gradcast/compressors.h"
#include "kernels/c_abi_checks.hpp"
#include "kernels/compressor.hpp"
#include "kernels/levels.hpp"
#include "kernels/low_rank.hpp"
#include "kernels/selection.hpp"

namespace gradcast {
using namespace c_abi;
namespace {

const Compressor& known(const gradcast_compressor* handle) {
  for (const Compressor* compressor : all_compressors())
    if (static_cast<const void*>(compressor) == handle) return *compressor;
  throw BadCall(handle == nullptr ? "the compressor is null" : "no compressor of the table");
}

const gradcast_compressor* handle_of(const Compressor* compressor) {
  return reinterpret_cast<const gradcast_compressor*>(compressor);
}

std::int64_t workers_for(std::int64_t workers) {
  require_that(workers >= 1 && workers <= kMostWorkers,
               std::to_string(workers) + " workers: 1 to " + std::to_string(kMostWorkers));
  return workers;
}

const Compressor& sparsifier(const gradcast_compressor* handle) {
  const Compressor& compressor = known(handle);
  require_that(
      compressor.encode != nullptr,
      std::string(compressor.name) + " selects no elements; gradcast_sparse_* is not for it");
  return compressor;
}

const Compressor& packer(const gradcast_compressor* handle) {
  const Compressor& compressor = known(handle);
  require_that(compressor.packing != nullptr,
               std::string(compressor.name) +
                   " is no cast or quantiser; gradcast_pack_* is not "
                   "for it");
  return compressor;
}

const Compressor& leveller(const gradcast_compressor* handle) {
  const Compressor& compressor = known(handle);
  require_that(compressor.levels() != nullptr,
               std::string(compressor.name) +
                   " has no levels of a shared scale; gradcast_level_* is not for it");
  return compressor;
}

const LowRank& low_rank(const gradcast_compressor* handle) {
  const Compressor& compressor = known(handle);
  require_that(
      compressor.low_rank != nullptr,
      std::string(compressor.name) + " sends no thin matrices; gradcast_low_rank_* is not for it");
  return *compressor.low_rank;
}

bool takes_k(const Compressor& compressor) {
  return compressor.family == Family::Sparsifier && !compressor.parameter.selects;
}

/// Empty where there is no residual.
template <typename Float>
std::span<Float> residual_of_caller(Float* residual, std::size_t elements) {
  return residual == nullptr ? std::span<Float>{} : std::span(residual, elements);
}

void require_words(std::int64_t given, std::int64_t right) {
  require_that(given == right, std::to_string(given) + " words, and " + std::to_string(right) +
                                   " would be right for this tensor");
}

std::int64_t packed_words_of(const Compressor& compressor, std::int64_t elements,
                             double parameter) {
  return compressor.packing->words(static_cast<std::int64_t>(elements_of(elements)), parameter);
}

std::int64_t level_words_of(const Compressor& compressor, std::int64_t elements, double parameter,
                            std::int64_t workers) {
  const std::uint32_t largest = compressor.levels()->largest(parameter);
  const int bits = lane_bits(largest, workers_for(workers));
  require_that(bits > 0, "the sum of " + std::to_string(workers) + " workers' levels, each up to " +
                             std::to_string(largest) +
                             ", does not fit in 32 bits: take fewer levels");
  return lane_words(static_cast<std::int64_t>(elements_of(elements)), bits);
}

struct Matrix {
  LowRankSettings settings;
  LowRankNumbers numbers;
  std::size_t elements;
};

Matrix matrix_of(const gradcast_compressor* handle, const gradcast_matrix* given) {
  const LowRank& definition = low_rank(handle);
  const gradcast_matrix& matrix = *needed(given, "matrix");
  require_that(matrix.rows >= 1 && matrix.columns >= 1 && matrix.rows <= kMostElements &&
                   matrix.columns <= kMostElements / matrix.rows,
               "a matrix of " + std::to_string(matrix.rows) + " x " +
                   std::to_string(matrix.columns) + ": it has 1 to 2^31 - 1 elements");
  parameter_for(known(handle), static_cast<double>(matrix.rank));
  const LowRankSettings settings{.shape = {matrix.rows, matrix.columns},
                                 .rank = matrix.rank,
                                 .mode = mode_for(known(handle), matrix.mode),
                                 .seed = matrix.seed};
  return {settings, definition.numbers(settings.shape, settings.rank, settings.mode),
          static_cast<std::size_t>(matrix.rows * matrix.columns)};
}

/// Q of a matrix, empty if the tensor is not compressed.
template <typename Float>
std::span<Float> query_of(Float* q, const Matrix& matrix) {
  const auto size = static_cast<std::size_t>(matrix.numbers.second);
  return size == 0 ? std::span<Float>{} : std::span(needed(q, "q"), size);
}

}  // namespace
}  // namespace gradcast

using namespace gradcast;

const char* gradcast_compressor_error() { return last_error; }

const char* gradcast_compressor_version() { return GRADCAST_VERSION; }

int32_t gradcast_compressor_count() { return static_cast<int32_t>(all_compressors().size()); }

gradcast_status gradcast_compressor_at(int32_t place, const gradcast_compressor** compressor) {
  return guarded(__func__, [&] {
    needed(compressor, "compressor");
    require_that(place >= 0 && place < gradcast_compressor_count(),
                 "no compressor " + std::to_string(place) + ": there are " +
                     std::to_string(gradcast_compressor_count()));
    *compressor = handle_of(all_compressors()[static_cast<std::size_t>(place)]);
  });
}

gradcast_status gradcast_compressor_find(const char* name, const gradcast_compressor** compressor) {
  return guarded(__func__, [&] {
    needed(compressor, "compressor");
    const std::string wanted = needed(name, "name");
    std::string names;
    for (const Compressor* each : all_compressors()) {
      if (each->name == wanted) {
        *compressor = handle_of(each);
        return;
      }
      names.append(names.empty() ? "" : ", ").append(each->name);
    }
    throw BadCall("no compressor '" + wanted.substr(0, 80) + "' (known: " + names + ")");
  });
}

gradcast_status gradcast_compressor_describe(const gradcast_compressor* handle,
                                             gradcast_compressor_info* info) {
  return guarded(__func__, [&] {
    const Compressor& compressor = known(handle);
    const Parameter& parameter = compressor.parameter;
    const bool votes = compressor.packing != nullptr && compressor.packing->sum == PackSum::Votes;
    // All texts are literals, which end with a zero.
    *needed(info, "info") = {
        .name = compressor.name.data(),
        .summary = compressor.summary.data(),
        .source = compressor.source.data(),
        .family = static_cast<int32_t>(compressor.family),
        .aggregation = static_cast<int32_t>(compressor.aggregation),
        .combination = votes ? GRADCAST_VOTE : GRADCAST_SUM,
        .two_modes = compressor.two_modes,
        .takes_k = takes_k(compressor),
        .exact_count = compressor.exact_count,
        .shared_seed = compressor.shared_seed,
        .shared_scale = compressor.levels() != nullptr,
        .feedback = compressor.feedback && compressor.family != Family::Dense,
        .parameter_name = parameter.name.empty() ? "" : parameter.name.data(),
        .parameter_meaning = parameter.meaning.empty() ? "" : parameter.meaning.data(),
        .parameter_usual = parameter.usual,
        .parameter_least = parameter.least,
        .parameter_most = parameter.most,
        .parameter_whole = !parameter.name.empty() && parameter.whole,
    };
  });
}

// ---- sparsifiers --------------------------------------------------------------------------------

gradcast_status gradcast_sparse_wanted(int64_t elements, double density, int64_t* k) {
  return guarded(__func__, [&] {
    elements_of(elements);
    require_that(density > 0 && density <= 1,
                 "density " + short_text(density) + ": it is above 0 and at most 1");
    *needed(k, "k") = wanted_elements(elements, density);
  });
}

gradcast_status gradcast_sparse_capacity(const gradcast_compressor* handle, int64_t elements,
                                         int64_t k, int64_t* pairs) {
  return guarded(__func__, [&] {
    const Compressor& compressor = sparsifier(handle);
    elements_of(elements);
    *needed(pairs, "pairs") =
        compressor.exact_count ? std::clamp<int64_t>(k, 0, elements) : elements;
  });
}

gradcast_status gradcast_sparse_encode(const gradcast_compressor* handle, const float* gradient,
                                       float* residual, int64_t elements,
                                       const gradcast_selection* selection, void* values,
                                       int32_t* indices, int64_t capacity, int64_t* count,
                                       uint32_t* notes) {
  return guarded(__func__, [&] {
    const Compressor& compressor = sparsifier(handle);
    const std::size_t n = elements_of(elements);
    needed(gradient, "gradient");
    needed(count, "count");
    const gradcast_selection& asked = *needed(selection, "selection");
    require_that(capacity >= 0 && capacity <= kMostElements,
                 "a capacity of " + std::to_string(capacity) + " pairs");
    if (capacity > 0) needed(values, "values");
    if (capacity > 0) needed(indices, "indices");
    require_that(asked.candidates >= 0, "candidates are 0 or more");
    const ValueType type = value_type_for(asked.value_type);
    const Selection chosen{
        .k = compressor.family == Family::Dense ? elements : asked.k,
        .mode = mode_for(compressor, asked.mode),
        .seed = asked.seed,
        .candidates = asked.candidates,
        .threshold = static_cast<float>(parameter_for(compressor, asked.parameter))};

    std::vector<float> zeros(residual == nullptr ? n : 0);
    const std::span<float> u = residual == nullptr ? std::span(zeros) : std::span(residual, n);
    const auto room = static_cast<std::size_t>(std::min(capacity, elements));
    std::vector<float> wide(type == ValueType::Fp32 ? 0 : room);
    const std::span<float> written =
        type == ValueType::Fp32 ? std::span(static_cast<float*>(values), room) : std::span(wide);
    const Encoded encoded = compressor.encode(std::span(gradient, n), u, chosen,
                                              {written, std::span(indices, room), type});
    if (type != ValueType::Fp32)
      for (std::size_t i = 0; i < static_cast<std::size_t>(encoded.count); ++i)
        static_cast<std::uint16_t*>(values)[i] = code_of_value(type, wide[i]);
    *count = encoded.count;
    if (notes != nullptr) *notes = encoded.status;
  });
}

gradcast_status gradcast_sparse_decode(const void* const* values, const int32_t* const* indices,
                                       const int64_t* counts, int64_t sets, int32_t value_type,
                                       float* dense, int64_t elements) {
  return guarded(__func__, [&] {
    const std::size_t n = elements_of(elements);
    needed(dense, "dense");
    const ValueType type = value_type_for(value_type);
    const auto number = static_cast<std::size_t>(workers_for(sets));
    needed(values, "values");
    needed(indices, "indices");
    needed(counts, "counts");
    std::vector<std::vector<float>> wide(type == ValueType::Fp32 ? 0 : number);
    std::vector<SparseSet> all(number);
    for (std::size_t s = 0; s < number; ++s) {
      require_that(counts[s] >= 0 && counts[s] <= kMostElements,
                   "set " + std::to_string(s) + " has " + std::to_string(counts[s]) + " pairs");
      const auto count = static_cast<std::size_t>(counts[s]);
      if (count == 0) continue;
      needed(values[s], "values of a set");
      all[s].indices = {needed(indices[s], "indices of a set"), count};
      if (type == ValueType::Fp32) {
        all[s].values = {static_cast<const float*>(values[s]), count};
        continue;
      }
      wide[s].resize(count);
      for (std::size_t i = 0; i < count; ++i)
        wide[s][i] = value_of_code(type, static_cast<const std::uint16_t*>(values[s])[i]);
      all[s].values = wide[s];
    }
    decode(all, std::span(dense, n));
  });
}

// ---- casts and quantisers -----------------------------------------------------------------------

gradcast_status gradcast_pack_words(const gradcast_compressor* handle, int64_t elements,
                                    double parameter, int64_t* words) {
  return guarded(__func__, [&] {
    const Compressor& compressor = packer(handle);
    *needed(words, "words") =
        packed_words_of(compressor, elements, parameter_for(compressor, parameter));
  });
}

gradcast_status gradcast_pack_encode(const gradcast_compressor* handle, const float* gradient,
                                     float* residual, int64_t elements, double parameter,
                                     uint64_t seed, uint32_t* packed, int64_t words,
                                     uint32_t* notes) {
  return guarded(__func__, [&] {
    const Compressor& compressor = packer(handle);
    const double its = parameter_for(compressor, parameter);
    require_words(words, packed_words_of(compressor, elements, its));
    const std::size_t n = elements_of(elements);
    const std::uint32_t status = compressor.packing->encode(
        std::span(needed(gradient, "gradient"), n), residual_of_caller(residual, n), {its, seed},
        std::span(needed(packed, "packed"), static_cast<std::size_t>(words)));
    if (notes != nullptr) *notes = status;
  });
}

gradcast_status gradcast_pack_decode(const gradcast_compressor* handle,
                                     const uint32_t* const* packed, int64_t workers, int64_t words,
                                     double parameter, float* dense, int64_t elements) {
  return guarded(__func__, [&] {
    const Compressor& compressor = packer(handle);
    const double its = parameter_for(compressor, parameter);
    require_words(words, packed_words_of(compressor, elements, its));
    needed(packed, "packed");
    std::vector<std::span<const std::uint32_t>> payloads;
    for (std::int64_t worker = 0; worker < workers_for(workers); ++worker)
      payloads.emplace_back(needed(packed[worker], "packed of a worker"),
                            static_cast<std::size_t>(words));
    compressor.packing->decode(payloads, its,
                               std::span(needed(dense, "dense"), elements_of(elements)));
  });
}

// ---- quantisers whose workers share a scale -----------------------------------------------------

gradcast_status gradcast_level_words(const gradcast_compressor* handle, int64_t elements,
                                     double parameter, int64_t workers, int64_t* words) {
  return guarded(__func__, [&] {
    const Compressor& compressor = leveller(handle);
    *needed(words, "words") =
        level_words_of(compressor, elements, parameter_for(compressor, parameter), workers);
  });
}

gradcast_status gradcast_level_scale(const gradcast_compressor* handle, const float* gradient,
                                     const float* residual, int64_t elements, double parameter,
                                     float* scale, uint32_t* notes) {
  return guarded(__func__, [&] {
    const Compressor& compressor = leveller(handle);
    const double its = parameter_for(compressor, parameter);
    const std::size_t n = elements_of(elements);
    const OwnScale own = compressor.levels()->own_scale(std::span(needed(gradient, "gradient"), n),
                                                        residual_of_caller(residual, n), its);
    *needed(scale, "scale") = own.scale;
    if (notes != nullptr) *notes = own.status;
  });
}

gradcast_status gradcast_level_encode(const gradcast_compressor* handle, const float* gradient,
                                      float* residual, int64_t elements, double parameter,
                                      uint64_t seed, float own, float shared, int64_t workers,
                                      uint32_t* lanes, int64_t words) {
  return guarded(__func__, [&] {
    const Compressor& compressor = leveller(handle);
    const double its = parameter_for(compressor, parameter);
    require_words(words, level_words_of(compressor, elements, its, workers));
    require_that(std::isfinite(own) && std::isfinite(shared) && shared >= own && own >= 0,
                 "the shared scale is finite, and not below the own one");
    const std::size_t n = elements_of(elements);
    compressor.levels()->encode(
        std::span(needed(gradient, "gradient"), n), residual_of_caller(residual, n), own,
        {.parameter = its, .seed = seed, .scale = shared, .workers = workers},
        std::span(needed(lanes, "lanes"), static_cast<std::size_t>(words)));
  });
}

gradcast_status gradcast_level_decode(const gradcast_compressor* handle, const uint32_t* lanes,
                                      int64_t words, double parameter, float shared,
                                      int64_t workers, float* dense, int64_t elements) {
  return guarded(__func__, [&] {
    const Compressor& compressor = leveller(handle);
    const double its = parameter_for(compressor, parameter);
    require_words(words, level_words_of(compressor, elements, its, workers));
    require_that(std::isfinite(shared) && shared >= 0,
                 "the shared scale is finite, and not negative");
    compressor.levels()->decode(std::span(needed(lanes, "lanes"), static_cast<std::size_t>(words)),
                                {.parameter = its, .scale = shared, .workers = workers},
                                std::span(needed(dense, "dense"), elements_of(elements)));
  });
}

// ---- PowerSGD -----------------------------------------------------------------------------------

gradcast_status gradcast_low_rank_numbers(const gradcast_compressor* handle,
                                          const gradcast_matrix* matrix, int64_t* first,
                                          int64_t* second) {
  return guarded(__func__, [&] {
    const LowRankNumbers numbers = matrix_of(handle, matrix).numbers;
    *needed(first, "first") = numbers.first;
    *needed(second, "second") = numbers.second;
  });
}

gradcast_status gradcast_low_rank_first(const gradcast_compressor* handle,
                                        const gradcast_matrix* matrix, const float* gradient,
                                        float* residual, float* q, float* sent, uint32_t* notes) {
  return guarded(__func__, [&] {
    const Matrix its = matrix_of(handle, matrix);
    const std::uint32_t status = low_rank(handle).first(
        std::span(needed(gradient, "gradient"), its.elements),
        std::span(needed(residual, "residual"), its.elements), its.settings, query_of(q, its),
        std::span(needed(sent, "sent"), static_cast<std::size_t>(its.numbers.first)));
    if (notes != nullptr) *notes = status;
  });
}

gradcast_status gradcast_low_rank_second(const gradcast_compressor* handle,
                                         const gradcast_matrix* matrix, const float* u, float* p,
                                         float* q) {
  return guarded(__func__, [&] {
    const Matrix its = matrix_of(handle, matrix);
    low_rank(handle).second(std::span(needed(u, "u"), its.elements), its.settings,
                            std::span(needed(p, "p"), static_cast<std::size_t>(its.numbers.first)),
                            query_of(q, its));
  });
}

gradcast_status gradcast_low_rank_finish(const gradcast_compressor* handle,
                                         const gradcast_matrix* matrix, const float* p,
                                         const float* q, float* dense, float* residual) {
  return guarded(__func__, [&] {
    const Matrix its = matrix_of(handle, matrix);
    low_rank(handle).finish(its.settings,
                            std::span(needed(p, "p"), static_cast<std::size_t>(its.numbers.first)),
                            query_of(q, its), std::span(needed(dense, "dense"), its.elements),
                            std::span(needed(residual, "residual"), its.elements));
  });
}
