// Makes the columns of P or Q orthonormal by Cholesky's factor of their Gram matrix, in doubles:
// with G = M^T M = R^T R, the columns of M R^-1 are what Gram and Schmidt would make of M's. G is a
// sum over rows, so that many blocks add it up, where Gram and Schmidt meet after each column. What
// rounding does to G is amplified by the condition of M; where that is much, orthonormal.cuh takes
// over.
#pragma once
#include "kernels/device/orthonormal.cuh"

namespace gradcast::GRADCAST_DEVICE {

/// The largest rank for which this is done.
inline constexpr int kMostGramRank = 32;
/// Sums of products that it takes: 4 of each item, below.
inline constexpr int kMostGramSums = 4 * 2 * (kMostGramRank / 4) * (kMostGramRank / 4 + 1);
/// Numbers of the matrix that a block has in shared memory at once: whole rows of quads.
inline constexpr int kGramChunk = 2048;
inline constexpr int kGramLoads = kGramChunk / kBlockThreads;
/// The rounding of G, 2^-53 of it, may become this many times as large in M R^-1. A float's own
/// rounding is 2^-24.
inline constexpr double kMostAmplified = 1 << 20;

struct GramShared {
  BlockScratch scratch;
  double chunk[kGramChunk];
  double sums[4 * kBlockThreads];
  double matrix[kMostGramRank * kMostGramRank];  // G, then R^-1
  double squares[kMostGramRank];                 // of whole columns
  double scale[kMostGramRank];
  double reciprocal;
  std::uint32_t flag;
};

/// A matrix of up to 32 columns, row by row. Every thread of the block calls each function.
class Gram {
 public:
  __device__ Gram(float* matrix, std::int32_t rows, std::int32_t rank, const GramShape& shape,
                  GramShared& shared)
      : matrix_(matrix),
        rows_(rows),
        rank_(rank),
        shape_(shape),
        room_(shape.room),
        items_(shape.items),
        slices_(shape.slices),
        slice_(quotient(static_cast<int>(threadIdx.x), shape.of_items)),
        shared_(shared) {
    left_ = static_cast<int>(threadIdx.x) - slice_ * items_;
    while (left_ >= 4 * (quad_ + 1)) left_ -= 4 * ++quad_;
  }

  /// The part of G that these rows make.
  __device__ void add_rows(std::int32_t begin, std::int32_t end) {
    double sums[4] = {};
    each_chunk(begin, end, [&](std::int32_t, int rows) {
      if (slice_ >= slices_) return;
      GRADCAST_UNROLL_BY_4
      for (int i = slice_; i < rows; i += slices_) {
        const double* row = shared_.chunk + i * room_;
        GRADCAST_UNROLL
        for (int c = 0; c < 4; ++c) sums[c] = fma(row[left_], row[4 * quad_ + c], sums[c]);
      }
    });
    add_slices(sums);
  }

  /// Adds up G from the parts of `blocks` blocks.
  __device__ void add_parts(const double* parts, int blocks) {
    double sums[4] = {};
    if (slice_ < slices_) {
      GRADCAST_UNROLL_BY_4
      for (int block = slice_; block < blocks; block += slices_) GRADCAST_UNROLL
      for (int c = 0; c < 4; ++c) sums[c] += parts[(block * items_ + item()) * 4 + c];
    }
    add_slices(sums);
  }
  __device__ void write_part(double* parts, int block) {
    for (int at = static_cast<int>(threadIdx.x); at < 4 * items_; at += kBlockThreads)
      parts[block * items_ * 4 + at] = shared_.sums[at];
  }

  /// Whether a column is zero, or an element of it not finite. All threads know.
  __device__ bool misses_a_column() {
    const auto c = static_cast<int>(threadIdx.x);
    const double squares = c < rank_ ? shared_.sums[place_of(c, c)] : 1;
    return tell(!(squares > 0 && squares < HUGE_VAL));
  }

  /// Makes R^-1 of G. False: rounding would be amplified too much, or a column is missing.
  __device__ bool factorise(double epsilon) {
    Entry entries[kEntriesOfThread];
    GRADCAST_UNROLL
    for (int e = 0; e < kEntriesOfThread; ++e) {
      const int at = static_cast<int>(threadIdx.x) + e * kBlockThreads;
      Entry& entry = entries[e];
      entry.row = quotient(at, shape_.of_rank);
      entry.column = at - entry.row * rank_;
      if (entry.row >= rank_) continue;
      const bool upper = entry.row < entry.column;
      const double value =
          shared_
              .sums[upper ? place_of(entry.row, entry.column) : place_of(entry.column, entry.row)];
      this->at(entry) = value;
      if (entry.row == entry.column) shared_.squares[entry.row] = value;
      if (at == 0) shared_.reciprocal = 1 / value;
    }
    block_barrier();
    for (int step = 0; step + 1 < rank_; ++step) eliminate(step, entries);
    if (tell(find_scale(epsilon))) return false;
    GRADCAST_UNROLL
    for (int e = 0; e < kEntriesOfThread; ++e) {
      Entry& entry = entries[e];
      if (entry.row >= rank_) continue;
      const double scale = shared_.scale[entry.row];
      entry.value = entry.row == entry.column ? scale : this->at(entry) * scale;
    }
    block_barrier();
    GRADCAST_UNROLL
    for (int e = 0; e < kMostGramRank * kMostGramRank / kBlockThreads; ++e)
      shared_.matrix[threadIdx.x + e * kBlockThreads] = 0;
    block_barrier();
    GRADCAST_UNROLL
    for (int e = 0; e < kEntriesOfThread; ++e) {
      const Entry& entry = entries[e];
      if (entry.row < rank_ && entry.column <= entry.row)
        shared_.matrix[entry.column * room_ + entry.row] = entry.value;
    }
    block_barrier();
    return true;
  }

  /// M becomes M R^-1, in these rows. `loaded`: they are one chunk, and in shared memory already.
  __device__ void apply(std::int32_t begin, std::int32_t end, bool loaded = false) {
    const auto use = [&](std::int32_t row, int rows) {
      const int quads = room_ / 4;
      float* to = matrix_ + static_cast<std::int64_t>(row) * rank_;
      for (int at = static_cast<int>(threadIdx.x); at < rows * quads; at += kBlockThreads) {
        const int i = quotient(at, shape_.of_quads);
        const int first = 4 * (at - i * quads);
        double sums[4] = {};
        GRADCAST_UNROLL_BY_4
        for (int k = 0; k < first + 4; ++k) {
          const double value = shared_.chunk[i * room_ + k];
          GRADCAST_UNROLL
          for (int c = 0; c < 4; ++c)
            sums[c] = fma(value, shared_.matrix[k * room_ + first + c], sums[c]);
        }
        GRADCAST_UNROLL
        for (int c = 0; c < 4; ++c)
          if (first + c < rank_)
            to[i * rank_ + first + c] = sums[c] == 0 ? 0.0f : static_cast<float>(sums[c]);
      }
    };
    if (loaded) {
      use(begin, end - begin);
    } else {
      each_chunk(begin, end, use);
    }
  }

  __device__ void write_factor(double* to) {
    for (int at = static_cast<int>(threadIdx.x); at < rank_ * room_; at += kBlockThreads)
      to[at] = shared_.matrix[at];
  }
  __device__ void read_factor(const double* from) {
    for (int at = static_cast<int>(threadIdx.x); at < rank_ * room_; at += kBlockThreads)
      shared_.matrix[at] = from[at];
  }

 private:
  /// An element of G that a thread has, throughout.
  struct Entry {
    int row, column;
    double value;
  };
  static constexpr int kEntriesOfThread = kMostGramRank * kMostGramRank / kBlockThreads;

  /// An item is a column and a quad of columns, not all of which are before it: their products are
  /// a thread's. Slices of the threads have all items each, and share out the rows.
  __device__ int item() const { return static_cast<int>(threadIdx.x) - slice_ * items_; }
  /// Place in `sums` of G's element, row <= column.
  __device__ int place_of(int row, int column) const {
    const int quad = column / 4;
    return 4 * (2 * quad * (quad + 1) + row) + column % 4;
  }
  __device__ double& at(const Entry& entry) {
    return shared_.matrix[entry.row * room_ + entry.column];
  }
  __device__ static int quotient(int n, unsigned reciprocal) {
    return static_cast<int>(static_cast<unsigned>(n) * reciprocal >> 20);
  }

  /// Loads rows by the chunk, one chunk ahead of what is done with them.
  template <class Use>
  __device__ void each_chunk(std::int32_t begin, std::int32_t end, Use use) {
    const int rows_at_once = kGramChunk / room_;
    float ahead[kGramLoads];
    load(begin, ahead);
    if (room_ > rank_) {  // what is beyond a row's end is multiplied by zeros, and must be finite
      GRADCAST_UNROLL
      for (int i = 0; i < kGramLoads; ++i) shared_.chunk[threadIdx.x + i * kBlockThreads] = 0;
    }
    for (std::int32_t row = begin; row < end; row += rows_at_once) {
      block_barrier();
      GRADCAST_UNROLL
      for (int i = 0; i < kGramLoads; ++i) {
        const int at = static_cast<int>(threadIdx.x) + i * kBlockThreads;
        const int line = quotient(at, shape_.of_rank);
        if (line < rows_at_once)
          shared_.chunk[at + line * (room_ - rank_)] = static_cast<double>(ahead[i]);
      }
      block_barrier();
      if (end - row > rows_at_once) load(row + rows_at_once, ahead);
      use(row, end - row < rows_at_once ? end - row : rows_at_once);
    }
  }
  /// Beyond the matrix its last number is repeated; nobody takes it.
  __device__ __forceinline__ void load(std::int32_t row, float (&values)[kGramLoads]) const {
    const std::int64_t last = static_cast<std::int64_t>(rows_) * rank_ - 1;
    const std::int64_t first = static_cast<std::int64_t>(row) * rank_ + threadIdx.x;
    GRADCAST_UNROLL
    for (int i = 0; i < kGramLoads; ++i) {
      const std::int64_t at = first + i * kBlockThreads;
      values[i] = matrix_[at < last ? at : last];
    }
    GRADCAST_UNROLL
    for (int i = 0; i < kGramLoads; ++i) send_loads_before(values[i]);
  }

  /// Adds the slices' sums, by halves.
  __device__ void add_slices(const double (&sums)[4]) {
    block_barrier();
    if (slice_ < slices_) {
      GRADCAST_UNROLL
      for (int c = 0; c < 4; ++c) shared_.sums[4 * threadIdx.x + c] = sums[c];
    }
    block_barrier();
    for (int held = slices_; held > 1;) {
      const int half = (held + 1) / 2;
      const int others = 4 * items_ * (held - half);
      for (int at = static_cast<int>(threadIdx.x); at < others; at += kBlockThreads)
        shared_.sums[at] += shared_.sums[at + half * items_ * 4];
      block_barrier();
      held = half;
    }
  }

  /// A step of Gauss' elimination, in place. Below the diagonal stands what the steps before made
  /// of a unit matrix: in the end the inverse of L, where G = L D L^T and D is the diagonal.
  __device__ void eliminate(int step, Entry (&entries)[kEntriesOfThread]) {
    GRADCAST_UNROLL
    for (int e = 0; e < kEntriesOfThread; ++e) {
      Entry& entry = entries[e];
      if (entry.row <= step || entry.row >= rank_) continue;
      const double factor = -shared_.matrix[entry.row * room_ + step] * shared_.reciprocal;
      entry.value = entry.column == step
                        ? factor
                        : fma(factor, shared_.matrix[step * room_ + entry.column], at(entry));
    }
    block_barrier();
    GRADCAST_UNROLL
    for (int e = 0; e < kEntriesOfThread; ++e) {
      const Entry& entry = entries[e];
      if (entry.row <= step || entry.row >= rank_) continue;
      at(entry) = entry.value;
      if (entry.row == step + 1 && entry.column == step + 1) shared_.reciprocal = 1 / entry.value;
    }
    block_barrier();
  }

  /// The factor of this thread's column of R^-1. Whether rounding is amplified too much there: the
  /// sum of what its terms were before they cancelled, to the square, is at most `rank` times
  /// the sum of their squares.
  __device__ bool find_scale(double epsilon) {
    const auto c = static_cast<int>(threadIdx.x);
    if (c >= rank_) return false;
    const double left = shared_.matrix[c * room_ + c];
    shared_.scale[c] = 1 / (std::sqrt(left) + epsilon);
    double terms = shared_.squares[c];
    GRADCAST_UNROLL_BY_4
    for (int k = 0; k < c; ++k) {
      const double share = shared_.matrix[c * room_ + k];
      terms = fma(share * share, shared_.squares[k], terms);
    }
    return !(left > 0 && left < HUGE_VAL && terms * rank_ <= kMostAmplified * left);
  }

  /// Whether one of the first 32 threads says so: all threads know.
  __device__ bool tell(bool says) {
    const bool one_says = any(says);
    if (threadIdx.x == 0) shared_.flag = one_says ? 1 : 0;
    block_barrier();
    const bool told = shared_.flag != 0;
    block_barrier();
    return told;
  }

  float* matrix_;
  std::int32_t rows_;
  int rank_;
  GramShape shape_;
  int room_;
  int items_;
  int slices_;
  int slice_;
  int left_;      // this thread's item: a column,
  int quad_ = 0;  // and a quad of them
  GramShared& shared_;
};

/// One of a segment's thin matrices.
struct Thin {
  float* matrix;
  std::int32_t rows;
  ThinWork work;
  __device__ std::int32_t begin() const {
    return lesser(std::int64_t{block()} * work.rows_of_block, rows);
  }
  __device__ std::int32_t end() const {
    return lesser((std::int64_t{block()} + 1) * work.rows_of_block, rows);
  }
  __device__ int block() const { return static_cast<int>(blockIdx.x) - work.first_block; }
};

template <bool kOfQ>
__device__ __forceinline__ Thin thin_of(const LowRankSegment& segment) {
  if (kOfQ) return {segment.q, segment.columns, segment.q_work};
  return {segment.p, segment.rows, segment.p_work};
}

/// Whether this is the last of the matrix's blocks to come. It sees what all others wrote before.
__device__ inline bool last_of_all(const ThinWork& work, GramShared& shared) {
  block_barrier();
  if (threadIdx.x == 0) {
    memory_fence();
    const std::uint32_t before = add_atomic(work.done, 1);
    shared.flag = before + 1 == static_cast<std::uint32_t>(work.blocks) ? 1 : 0;
    if (shared.flag != 0) add_atomic(work.done, 0u - static_cast<std::uint32_t>(work.blocks));
    memory_fence();
  }
  block_barrier();
  return shared.flag != 0;  // the next barrier comes before the next flag
}

/// Makes Q orthonormal before P = u Q, and clears the statuses; or P before Q = u^T P. A large
/// matrix has several blocks, of which the last one finds R^-1 for `apply`.
template <bool kOfQ>
__global__ void __launch_bounds__(kBlockThreads, 2) prepare_thin(const LowRankBatch batch) {
  GramShared& shared = shared_memory<GramShared>();
  const std::int32_t* table = kOfQ ? batch.q_segment : batch.p_segment;
  const LowRankSegment segment = segment_of(batch, table[blockIdx.x]);
  const Thin thin = thin_of<kOfQ>(segment);
  if (kOfQ && thin.block() == 0 && threadIdx.x == 0) *segment.status = 0;
  if (segment.rank == 0) return;
  const bool several = thin.work.blocks > 1;
  if (segment.rank <= kMostGramRank) {
    Gram gram(thin.matrix, thin.rows, segment.rank, segment.gram, shared);
    gram.add_rows(thin.begin(), thin.end());
    if (several) {
      gram.write_part(segment.gram_parts, thin.block());
      if (!last_of_all(thin.work, shared)) return;
      gram.add_parts(segment.gram_parts, thin.work.blocks);
    }
    const bool missing = kOfQ && gram.misses_a_column();
    const bool wanted = !kOfQ || batch.always_orthonormal;
    const bool done = !missing && (!wanted || gram.factorise(batch.epsilon));
    if (several) {
      // 0: nothing is left to apply.
      if (done && wanted) gram.write_factor(segment.factor);
      if (!(done && wanted) && threadIdx.x == 0) segment.factor[0] = 0;
    } else if (done && wanted) {
      gram.apply(0, thin.rows, thin.rows <= kGramChunk / segment.gram.room);
    }
    if (done) return;
  }
  block_barrier();
  const bool drawn =
      kOfQ && draw_missing_columns(segment, segment.seed + *batch.round, shared.scratch);
  if (!kOfQ || drawn || batch.always_orthonormal)
    Orthonormal(thin.matrix, thin.rows, segment.rank, segment.columns_apart, shared.scratch)
        .make(batch.epsilon);
}

/// Finishes what `prepare_thin` left of matrices that have several blocks.
template <bool kOfQ>
__global__ void __launch_bounds__(kBlockThreads, 2) apply_factor(const LowRankBatch batch) {
  GramShared& shared = shared_memory<GramShared>();
  const std::int32_t* table = kOfQ ? batch.q_segment : batch.p_segment;
  const LowRankSegment segment = segment_of(batch, table[blockIdx.x]);
  const Thin thin = thin_of<kOfQ>(segment);
  if (segment.rank == 0 || thin.work.blocks < 2 || segment.factor[0] == 0) return;
  Gram gram(thin.matrix, thin.rows, segment.rank, segment.gram, shared);
  gram.read_factor(segment.factor);
  gram.apply(thin.begin(), thin.end());
}

}  // namespace gradcast::GRADCAST_DEVICE
