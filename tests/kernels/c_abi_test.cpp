// The C interface, held against the definitions bit for bit, over the whole table; and calls that
// no caller should make.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "include/gradcast/compressors.h"
#include "kernels/low_rank.hpp"
#include "tests/kernels/level_cases.hpp"
#include "tests/kernels/pack_cases.hpp"

using namespace gradcast;
using namespace gradcast::cases;

namespace {

constexpr std::int64_t kSizes[] = {1, 2, 33, 1000, 1025};
constexpr std::size_t kOneIn = 5;

const gradcast_compressor* handle_of(std::string_view name) {
  const gradcast_compressor* handle = nullptr;
  REQUIRE(gradcast_compressor_find(std::string(name).c_str(), &handle) == GRADCAST_OK);
  return handle;
}

/// One line that names the function.
void require_refused(gradcast_status status, const std::string& part) {
  const std::string error = gradcast_compressor_error();
  INFO(error);
  REQUIRE(status == GRADCAST_BAD_ARGUMENT);
  REQUIRE(error.starts_with("gradcast_"));
  REQUIRE(error.find(part) != std::string::npos);
  REQUIRE(error.find('\n') == std::string::npos);
}

Answer abi_answer(const Case& one, const Vectors& vectors) {
  const Selection& asked = one.selection;
  const gradcast_compressor* handle = handle_of(one.method.compressor->name);
  std::int64_t room = 0;
  REQUIRE(gradcast_sparse_capacity(handle, one.elements, asked.k, &room) == GRADCAST_OK);
  const auto capacity = static_cast<std::size_t>(room);
  const gradcast_selection selection{
      .k = asked.k,
      .candidates = asked.candidates,
      .parameter = static_cast<double>(asked.threshold),
      .seed = asked.seed,
      .mode = one.method.mode == Mode::Paper ? GRADCAST_MODE_PAPER : GRADCAST_MODE_CODE,
      .value_type = static_cast<std::int32_t>(one.type)};
  Answer answer{{}, {}, std::vector<std::int32_t>(capacity), vectors.residual};
  std::vector<float> wide(capacity);
  std::vector<std::uint16_t> codes(capacity);
  void* const values = one.type == ValueType::Fp32 ? static_cast<void*>(wide.data()) : codes.data();
  REQUIRE(gradcast_sparse_encode(handle, vectors.gradient.data(), answer.residual.data(),
                                 one.elements, &selection, values, answer.indices.data(), room,
                                 &answer.encoded.count, &answer.encoded.status) == GRADCAST_OK);
  const auto sent = static_cast<std::size_t>(answer.encoded.count);
  answer.indices.resize(sent);
  wide.resize(sent);
  codes.resize(sent);
  for (std::size_t i = 0; i < sent; ++i)
    answer.values.push_back(one.type == ValueType::Fp32 ? wide[i]
                                                        : value_of_code(one.type, codes[i]));

  // Two workers sent all that, and the second fills up with -1.
  answer.indices.push_back(-1);
  wide.push_back(1);
  codes.push_back(1);
  const void* const sent_values =
      one.type == ValueType::Fp32 ? static_cast<const void*>(wide.data()) : codes.data();
  const void* const both_values[] = {sent_values, sent_values};
  const std::int32_t* const both_indices[] = {answer.indices.data(), answer.indices.data()};
  const std::int64_t counts[] = {answer.encoded.count, answer.encoded.count + 1};
  std::vector<float> dense(vectors.gradient.size());
  REQUIRE(gradcast_sparse_decode(both_values, both_indices, counts, 2, selection.value_type,
                                 dense.data(), one.elements) == GRADCAST_OK);
  answer.indices.pop_back();
  const SparseSet set{answer.values, answer.indices};
  std::vector<float> expected(dense.size());
  decode(std::vector{set, set}, expected);
  REQUIRE(first_difference(expected, dense) == -1);
  return answer;
}

}  // namespace

TEST_CASE("the C interface lists the table as it is", "[kernels]") {
  REQUIRE(gradcast_compressor_count() == static_cast<int>(all_compressors().size()));
  int place = 0;
  for (const Compressor* compressor : all_compressors()) {
    const gradcast_compressor* handle = nullptr;
    REQUIRE(gradcast_compressor_at(place++, &handle) == GRADCAST_OK);
    REQUIRE(handle == handle_of(compressor->name));
    gradcast_compressor_info info{};
    REQUIRE(gradcast_compressor_describe(handle, &info) == GRADCAST_OK);
    CHECK(info.name == compressor->name);
    CHECK(info.summary == compressor->summary);
    CHECK(info.source == compressor->source);
    CHECK(info.family == static_cast<int>(compressor->family));
    CHECK(info.aggregation == static_cast<int>(compressor->aggregation));
    CHECK(info.parameter_name == compressor->parameter.name);
    CHECK(info.parameter_meaning == compressor->parameter.meaning);
    CHECK(info.parameter_usual == compressor->parameter.usual);
    CHECK(info.two_modes == int(compressor->two_modes));
    CHECK(info.shared_scale == int(compressor->levels() != nullptr));
    CHECK(info.takes_k ==
          int(compressor->family == Family::Sparsifier && compressor->name != "threshold"));
  }
}

TEST_CASE("the C interface encodes and decodes sparse sets as the definitions do", "[kernels]") {
  for_each_case(kSizes, kOneIn, [](const Case& one, const Vectors& vectors) {
    const float threshold = one.selection.threshold;
    if (threshold < 0 || threshold > 1e30f) return;  // outside of what the parameter may be
    INFO(one);
    Selection selection = one.selection;
    if (one.method.compressor->family == Family::Dense) selection.k = one.elements;
    const Answer expected = reference_answer(one.method, vectors, selection, -1, one.type);
    require_same(expected, abi_answer(one, vectors));
  });
}

TEST_CASE("the C interface packs and unpacks as the definitions do", "[kernels]") {
  for_each_pack_case(kSizes, kOneIn, [](const PackCase& one, const Vectors& vectors) {
    INFO(one);
    const gradcast_compressor* handle = handle_of(one.compressor->name);
    const double parameter = one.settings.parameter;
    std::int64_t words = 0;
    REQUIRE(gradcast_pack_words(handle, one.elements, parameter, &words) == GRADCAST_OK);
    for (const bool feedback : {true, false}) {
      Vectors its = vectors;
      if (!feedback) its.residual.clear();
      const PackAnswer expected = pack_reference_answer(*one.compressor, its, one.settings);
      REQUIRE(words == static_cast<std::int64_t>(expected.words.size()));
      PackAnswer answer{std::vector<std::uint32_t>(expected.words.size(), 7), its.residual};
      REQUIRE(gradcast_pack_encode(handle, its.gradient.data(),
                                   feedback ? answer.residual.data() : nullptr, one.elements,
                                   parameter, one.settings.seed, answer.words.data(), words,
                                   &answer.status) == GRADCAST_OK);
      const bool same_words = answer.words == expected.words;
      REQUIRE(same_words);
      REQUIRE(answer.status == expected.status);
      REQUIRE(first_difference(expected.residual, answer.residual) == -1);

      const std::vector<std::span<const std::uint32_t>> payloads(3, expected.words);
      const std::uint32_t* const packed[] = {answer.words.data(), answer.words.data(),
                                             answer.words.data()};
      std::vector<float> dense(its.gradient.size());
      std::vector<float> wanted(dense.size());
      one.compressor->packing->decode(payloads, parameter, wanted);
      REQUIRE(gradcast_pack_decode(handle, packed, 3, words, parameter, dense.data(),
                                   one.elements) == GRADCAST_OK);
      REQUIRE(first_difference(wanted, dense) == -1);
    }
  });
}

TEST_CASE("the C interface shares scales as the definitions do", "[kernels]") {
  for (const Compressor* compressor : all_with_levels())
    for (const std::int64_t elements : {1, 33, 1000}) {
      const std::vector<Vectors> workers{make_vectors(Input::normal, elements, 1),
                                         make_vectors(Input::not_finite, elements, 2),
                                         make_vectors(Input::laplace, elements, 3)};
      const double parameter = compressor->parameter.usual;
      const SharedAnswer expected = shared_reference_answer(*compressor, workers, parameter, 5);
      const gradcast_compressor* handle = handle_of(compressor->name);
      std::int64_t words = 0;
      REQUIRE(gradcast_level_words(handle, elements, parameter, 3, &words) == GRADCAST_OK);
      REQUIRE(words == static_cast<std::int64_t>(expected.sum.size()));
      std::vector<std::uint32_t> sum(expected.sum.size(), 0);
      for (std::size_t w = 0; w < workers.size(); ++w) {
        const LevelAnswer& its = expected.workers[w];
        float own = 0;
        std::uint32_t notes = 0;
        REQUIRE(gradcast_level_scale(handle, workers[w].gradient.data(), workers[w].residual.data(),
                                     elements, parameter, &own, &notes) == GRADCAST_OK);
        REQUIRE(own == its.own.scale);
        REQUIRE(notes == its.own.status);
        std::vector<float> residual = workers[w].residual;
        std::vector<std::uint32_t> lanes(sum.size());
        REQUIRE(gradcast_level_encode(handle, workers[w].gradient.data(), residual.data(), elements,
                                      parameter, 5 + w, own, expected.settings.scale, 3,
                                      lanes.data(), words) == GRADCAST_OK);
        REQUIRE(lanes == its.lanes);
        REQUIRE(first_difference(its.residual, residual) == -1);
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += lanes[i];
      }
      std::vector<float> dense(static_cast<std::size_t>(elements));
      REQUIRE(gradcast_level_decode(handle, sum.data(), words, parameter, expected.settings.scale,
                                    3, dense.data(), elements) == GRADCAST_OK);
      REQUIRE(first_difference(expected.dense, dense) == -1);
    }
}

TEST_CASE("the C interface takes PowerSGD's steps as the definition does", "[kernels]") {
  const LowRank& definition = *all_low_rank().front()->low_rank;
  const gradcast_compressor* handle = handle_of("powersgd");
  for (const Mode mode : {Mode::Paper, Mode::Code})
    for (const MatrixShape shape : {MatrixShape{40, 30}, MatrixShape{7, 1}, MatrixShape{2, 3}}) {
      const LowRankSettings settings{.shape = shape, .rank = 2, .mode = mode, .seed = 9};
      const gradcast_matrix matrix{
          .rows = shape.rows,
          .columns = shape.columns,
          .rank = 2,
          .seed = 9,
          .mode = mode == Mode::Paper ? GRADCAST_MODE_PAPER : GRADCAST_MODE_CODE};
      const LowRankNumbers numbers = definition.numbers(shape, 2, mode);
      std::int64_t first = 0;
      std::int64_t second = 0;
      REQUIRE(gradcast_low_rank_numbers(handle, &matrix, &first, &second) == GRADCAST_OK);
      REQUIRE(first == numbers.first);
      REQUIRE(second == numbers.second);
      const Vectors vectors = make_vectors(Input::normal, shape.rows * shape.columns, 4);
      struct Side {
        std::vector<float> residual, q, p, dense;
      };
      const Side fresh{vectors.residual, std::vector<float>(static_cast<std::size_t>(second)),
                       std::vector<float>(static_cast<std::size_t>(first)),
                       std::vector<float>(vectors.gradient.size())};
      Side a = fresh;
      Side b = fresh;
      definition.first(vectors.gradient, a.residual, settings, a.q, a.p);
      definition.second(a.residual, settings, a.p, a.q);
      definition.finish(settings, a.p, a.q, a.dense, a.residual);
      float* const q = b.q.empty() ? nullptr : b.q.data();
      REQUIRE(gradcast_low_rank_first(handle, &matrix, vectors.gradient.data(), b.residual.data(),
                                      q, b.p.data(), nullptr) == GRADCAST_OK);
      REQUIRE(gradcast_low_rank_second(handle, &matrix, b.residual.data(), b.p.data(), q) ==
              GRADCAST_OK);
      REQUIRE(gradcast_low_rank_finish(handle, &matrix, b.p.data(), q, b.dense.data(),
                                       b.residual.data()) == GRADCAST_OK);
      REQUIRE(first_difference(a.dense, b.dense) == -1);
      REQUIRE(first_difference(a.residual, b.residual) == -1);
      REQUIRE(first_difference(a.q, b.q) == -1);
    }
}

TEST_CASE("the C interface refuses in one line what no caller should ask", "[kernels]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const gradcast_compressor* handle = nullptr;
  gradcast_compressor_info info{};
  std::int64_t number = 0;
  std::uint32_t word = 0;
  float value = 0;
  std::int32_t index = 0;
  require_refused(gradcast_compressor_find("topp", &handle), "known: dense, topk");
  require_refused(gradcast_compressor_find("a\nb", &handle), "a b");
  require_refused(gradcast_compressor_find(nullptr, &handle), "null");
  require_refused(gradcast_compressor_at(-1, &handle), "there are");
  require_refused(gradcast_compressor_at(1000, &handle), "there are");
  require_refused(gradcast_compressor_describe(nullptr, &info), "null");
  require_refused(
      gradcast_compressor_describe(reinterpret_cast<const gradcast_compressor*>(&info), &info),
      "no compressor of the table");

  const gradcast_compressor* topk = handle_of("topk");
  for (const double density : {nan, 0.0, -1.0, 1.5})
    require_refused(gradcast_sparse_wanted(10, density, &number), "density");
  for (const std::int64_t elements : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 31})
    require_refused(gradcast_sparse_capacity(topk, elements, 1, &number), "elements");
  require_refused(gradcast_sparse_capacity(handle_of("fp16"), 1, 1, &number), "selects no");
  const auto refuse = [&](const gradcast_compressor* which, auto change, const std::string& part) {
    gradcast_selection selection{};
    change(selection);
    require_refused(gradcast_sparse_encode(which, &value, &value, 1, &selection, &value, &index, 1,
                                           &number, nullptr),
                    part);
  };
  refuse(
      topk, [](auto& its) { its.mode = GRADCAST_MODE_PAPER; }, "one definition");
  refuse(
      topk, [](auto& its) { its.mode = 7; }, "mode");
  refuse(
      topk, [](auto& its) { its.value_type = 3; }, "value type");
  refuse(
      topk, [](auto& its) { its.candidates = -1; }, "candidates");
  refuse(
      handle_of("threshold"), [&](auto& its) { its.parameter = nan; }, "threshold");
  const gradcast_selection one{};
  require_refused(
      gradcast_sparse_encode(topk, nullptr, nullptr, 1, &one, &value, &index, 1, &number, nullptr),
      "gradient is null");
  require_refused(
      gradcast_sparse_encode(topk, &value, nullptr, 1, &one, nullptr, &index, 1, &number, nullptr),
      "values is null");
  require_refused(
      gradcast_sparse_encode(topk, &value, nullptr, 1, &one, &value, &index, -1, &number, nullptr),
      "capacity");

  const gradcast_compressor* qsgd = handle_of("qsgd");
  for (const double parameter : {nan, 0.0, 1.5, 1e300})
    require_refused(gradcast_pack_words(qsgd, 1, parameter, &number), "levels");
  require_refused(gradcast_pack_words(topk, 1, 0, &number), "no cast or quantiser");
  require_refused(gradcast_pack_encode(qsgd, &value, nullptr, 1, 127, 1, &word, 9, nullptr),
                  "9 words, and 2");
  require_refused(gradcast_level_words(qsgd, 1, 32767, 1 << 20, &number), "fewer levels");
  require_refused(gradcast_level_words(qsgd, 1, 127, 0, &number), "workers");
  require_refused(gradcast_level_words(handle_of("int8"), 1, 256, 2, &number), "shared scale");
  require_refused(gradcast_level_encode(qsgd, &value, nullptr, 1, 127, 1, 2, 1, 2, &word, 1),
                  "shared scale");
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const gradcast_matrix& matrix :
       {gradcast_matrix{0, 1, 1, 0, 0}, gradcast_matrix{most, most, 1, 0, 0},
        gradcast_matrix{2, 2, 0, 0, 0}, gradcast_matrix{2, 2, most, 0, 0},
        gradcast_matrix{2, 2, 1, 0, 5}})
    require_refused(gradcast_low_rank_numbers(handle_of("powersgd"), &matrix, &number, &number),
                    "");
}

TEST_CASE("the C interface decodes whatever comes from the wire", "[kernels]") {
  constexpr std::int64_t kElements = 100;
  std::vector<float> dense(kElements);
  std::uint32_t draw = 1;
  const auto next = [&draw] { return draw = mix_bits(draw + 1); };
  for (int round = 0; round < 20; ++round)
    for (const Compressor* compressor : all_packers()) {
      const gradcast_compressor* handle = handle_of(compressor->name);
      for (const double parameter : parameters_of(*compressor)) {
        std::int64_t words = 0;
        REQUIRE(gradcast_pack_words(handle, kElements, parameter, &words) == GRADCAST_OK);
        std::vector<std::uint32_t> wire(static_cast<std::size_t>(words));
        for (std::uint32_t& word : wire) word = next();
        const std::uint32_t* const packed[] = {wire.data(), wire.data()};
        REQUIRE(gradcast_pack_decode(handle, packed, 2, words, parameter, dense.data(),
                                     kElements) == GRADCAST_OK);
        if (compressor->levels() == nullptr) continue;
        REQUIRE(gradcast_level_words(handle, kElements, parameter, 3, &words) == GRADCAST_OK);
        wire.resize(static_cast<std::size_t>(words));
        for (std::uint32_t& word : wire) word = next();
        REQUIRE(gradcast_level_decode(handle, wire.data(), words, parameter, 1e30f, 3, dense.data(),
                                      kElements) == GRADCAST_OK);
      }
    }
  for (int round = 0; round < 100; ++round) {
    std::vector<std::uint32_t> values(50);
    std::vector<std::int32_t> indices(50);
    for (std::uint32_t& value : values) value = next();
    for (std::int32_t& index : indices) index = static_cast<std::int32_t>(next());
    const void* const its_values[] = {values.data()};
    const std::int32_t* const its_indices[] = {indices.data()};
    const std::int64_t count = 50;
    REQUIRE(gradcast_sparse_decode(its_values, its_indices, &count, 1, round % 3, dense.data(),
                                   kElements) == GRADCAST_OK);
  }
}
