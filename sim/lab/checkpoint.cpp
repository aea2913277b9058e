#include "sim/lab/checkpoint.hpp"

#include <algorithm>
#include <cstring>

#include "sim/base/block_reader.hpp"
#include "sim/base/error.hpp"
#include "sim/base/sha256.hpp"
#include "sim/base/text_file.hpp"

namespace gradcast::lab {
namespace {

constexpr std::string_view kBegin = "gradcast checkpoint 2\n";
constexpr std::size_t kSumLength = 64;
// Evaluations are kept as they lie in memory, so they have no gaps: chance would fill them.
static_assert(sizeof(Evaluation) == 7 * sizeof(double));

/// Numbers as they lie in memory, each list after its length.
class Writer {
 public:
  template <class Number>
  void number(Number value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class Number>
  void list(const std::vector<Number>& values) {
    number<std::uint64_t>(values.size());
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number));
  }
  void text(const std::string& words) { list(std::vector<char>(words.begin(), words.end())); }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  Reader(std::string file, std::string_view bytes) : file_(std::move(file)), left_(bytes) {}

  template <class Number>
  Number number() {
    require(sizeof(Number));
    Number value;
    std::memcpy(&value, left_.data(), sizeof value);
    left_.remove_prefix(sizeof value);
    return value;
  }
  template <class Number>
  std::vector<Number> list() {
    const auto count = number<std::uint64_t>();
    if (count > left_.size() / sizeof(Number)) fail("is cut off");
    std::vector<Number> values(static_cast<std::size_t>(count));
    if (!values.empty()) std::memcpy(values.data(), left_.data(), values.size() * sizeof(Number));
    left_.remove_prefix(values.size() * sizeof(Number));
    return values;
  }
  /// A list that must have this length, or none.
  template <class Number>
  std::vector<Number> list_of(std::size_t length) {
    std::vector<Number> values = list<Number>();
    if (!values.empty() && values.size() != length) fail("is of another network");
    return values;
  }
  void require_end() const {
    if (!left_.empty()) fail("has more than a checkpoint");
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(file_, 0, what + "; remove it to begin anew, or name another --checkpoint");
  }

 private:
  void require(std::size_t size) const {
    if (left_.size() < size) fail("is cut off");
  }

  std::string file_;
  std::string_view left_;
};

}  // namespace

std::string checkpoint_bytes(const std::string& identity, const TrainingState& state) {
  Writer writer;
  writer.text(identity);
  writer.number<std::int64_t>(state.iteration);
  writer.list(state.parameters);
  writer.list(state.velocity);
  for (const WorkerMemory& memory : state.memories) {
    writer.list(memory.residual);
    writer.list(memory.velocity);
    writer.list(memory.query);
  }
  writer.list(state.evaluations);
  writer.list(state.losses);
  for (const auto& counts : state.counts) writer.list(counts);
  const std::string content = writer.take();
  const std::string sum = sha256_hex(content);
  return std::string(kBegin) + (sum.empty() ? std::string(kSumLength, '-') : sum) + "\n" + content;
}

TrainingState checkpoint_state(const std::string& file, std::string_view bytes,
                               const std::string& identity, std::size_t parameters,
                               std::size_t workers) {
  const std::size_t header = kBegin.size() + kSumLength + 1;
  if (!bytes.starts_with(kBegin) || bytes.size() < header)
    throw DataError(file, 0, "is no checkpoint of `gradcast train`");
  const std::string sum = sha256_hex(bytes.substr(header));
  Reader reader(file, bytes.substr(header));
  const std::string_view kept = bytes.substr(kBegin.size(), kSumLength);
  if (!sum.empty() && kept[0] != '-' && kept != sum) reader.fail("is damaged");
  const auto its = reader.list<char>();
  if (std::string_view(its.data(), its.size()) != identity)
    reader.fail("is of another training: " + std::string(its.begin(), its.end()));
  TrainingState state;
  const auto iteration = reader.number<std::int64_t>();
  state.parameters = reader.list_of<float>(parameters);
  state.velocity = reader.list_of<float>(parameters);
  state.memories.resize(workers);
  for (WorkerMemory& memory : state.memories) {
    memory.residual = reader.list_of<float>(parameters);
    memory.velocity = reader.list_of<float>(parameters);
    memory.query = reader.list<float>();
  }
  state.evaluations = reader.list<Evaluation>();
  state.losses = reader.list<double>();
  if (iteration < 0 || iteration > kMostIterations ||
      static_cast<std::uint64_t>(iteration) != state.losses.size() ||
      state.parameters.size() != parameters || state.velocity.size() != parameters)
    reader.fail("is damaged");
  state.iteration = static_cast<int>(iteration);
  for (const Evaluation& evaluation : state.evaluations)
    if (evaluation.iteration < 1 || evaluation.iteration > iteration) reader.fail("is damaged");
  for (std::int64_t i = 0; i < iteration; ++i) {
    state.counts.push_back(reader.list<std::int64_t>());
    if (state.counts.back().size() != workers) reader.fail("is damaged");
  }
  reader.require_end();
  return state;
}

void write_checkpoint(const std::filesystem::path& path, const std::string& identity,
                      const TrainingState& state) {
  write_text_file(path, checkpoint_bytes(identity, state));
}

std::optional<TrainingState> read_checkpoint(const std::filesystem::path& path,
                                             const std::string& identity, std::size_t parameters,
                                             std::size_t workers) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  return checkpoint_state(path.string(), bytes_of_file(path, kBegin), identity, parameters,
                          workers);
}

}  // namespace gradcast::lab
