/* gradcast's gradient compressors for programs: a C interface to the definitions on the CPU.
 *
 * A training encodes a tensor's gradient, sends the code by a collective, and decodes the codes of
 * all workers. The caller owns all memory: gradients, residuals, codes. It asks for the size of a
 * code before it encodes. The library keeps no state between calls, so calls may run in several
 * threads at a time. The same input and seed give the same bits.
 *
 * Compressors are of five families, and each family has its functions:
 *
 *   dense, sparsifiers   gradcast_sparse_*    values and indices of some elements: all-gather
 *   casts, quantisers    gradcast_pack_*      every element in few bits: all-gather (a cast's codes
 *                                             are numbers of 16 bits, which an all-reduce adds up)
 *   quantisers that
 *   share a scale        gradcast_level_*     an all-reduce (maximum) of the scale, then one (sum)
 *   low rank (PowerSGD)  gradcast_low_rank_*  two all-reduces (sum), the second of which needs the
 *                                             mean of the first
 *
 * Error feedback: every encode forms u = gradient + residual, and leaves in the residual the part
 * of u that it does not send. A residual has the gradient's length; at first it is zeros. Where a
 * function says so, a null residual means no error feedback: what is not sent is lost.
 *
 * Numbers are little-endian. A tensor has 1 to 2^31 - 1 elements of float. Buffers of one call do
 * not overlap.
 *
 * Example: one worker's Top-k.
 *
 *     const gradcast_compressor* topk;
 *     gradcast_selection selection = {0};
 *     int64_t room, count;
 *     gradcast_compressor_find("topk", &topk);
 *     gradcast_sparse_wanted(elements, 0.01, &selection.k);
 *     gradcast_sparse_capacity(topk, elements, selection.k, &room);
 *     float* values = malloc(room * sizeof *values);
 *     int32_t* indices = malloc(room * sizeof *indices);
 *     if (gradcast_sparse_encode(topk, gradient, residual, elements, &selection, values, indices,
 *                                room, &count, NULL) != GRADCAST_OK)
 *       fprintf(stderr, "%s\n", gradcast_compressor_error());
 *
 * Errors: every function returns a gradcast_status. After any other than GRADCAST_OK the outputs
 * are unspecified and gradcast_compressor_error() says in one line what was wrong. No function
 * throws or aborts. Inside, a call may take memory from the heap, and gives it back before it
 * returns: at most about 24 bytes an element. There is no other workspace.
 *
 * device_compressors.h has the same compressors on a GPU. */
#ifndef GRADCAST_COMPRESSORS_H
#define GRADCAST_COMPRESSORS_H

#include <stdint.h>

#if defined(_WIN32)
#define GRADCAST_API
#else
#define GRADCAST_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gradcast_status {
  GRADCAST_OK = 0,
  GRADCAST_BAD_ARGUMENT = 1, /* mend the call */
  GRADCAST_NO_MEMORY = 2,    /* the heap had no room for what a call needs inside */
  GRADCAST_DEFECT = 3,       /* a defect of the library */
  GRADCAST_DEVICE_FAILED = 4 /* device_compressors.h: a GPU, its driver, its memory */
} gradcast_status;

/* The reason why this thread's last failed call failed: one line of UTF-8, "" if none has failed.
 * Valid until the thread's next call. */
GRADCAST_API const char* gradcast_compressor_error(void);

/* ---- the table ------------------------------------------------------------------------------- */

typedef enum gradcast_family {
  GRADCAST_DENSE = 0,      /* all elements as they are */
  GRADCAST_SPARSIFIER = 1, /* some elements as they are */
  GRADCAST_CAST = 2,       /* all elements, in a smaller floating-point type */
  GRADCAST_QUANTISER = 3,  /* all elements, in a few levels */
  GRADCAST_LOW_RANK = 4    /* two thin matrices in place of each matrix */
} gradcast_family;

typedef enum gradcast_aggregation {
  GRADCAST_ALL_REDUCE = 0, /* codes add up */
  GRADCAST_ALL_GATHER = 1  /* every worker receives all codes, and decodes them together */
} gradcast_aggregation;

/* The combination of the decoded values of all workers. */
typedef enum gradcast_combination {
  GRADCAST_SUM = 0, /* added up; divide by the workers for the mean */
  GRADCAST_VOTE = 1 /* the sign of most: +1, -1, or 0 of a tie (signSGD). It is no sum. */
} gradcast_combination;

/* The definition to use where a compressor's paper and its authors' code differ. */
typedef enum gradcast_mode {
  GRADCAST_MODE_CODE = 0, /* as the code runs; also for compressors with one definition */
  GRADCAST_MODE_PAPER = 1 /* as the paper has it; only for those with `two_modes` */
} gradcast_mode;

/* The type in which a sparsifier's values travel. What 16 bits lose stays in the residual. */
typedef enum gradcast_value_type {
  GRADCAST_FP32 = 0,
  GRADCAST_FP16 = 1,
  GRADCAST_BF16 = 2
} gradcast_value_type;

/* A compressor of the table: a constant of the library. */
typedef struct gradcast_compressor gradcast_compressor;

/* A compressor in words and numbers. Flags are 0 or 1. */
typedef struct gradcast_compressor_info {
  const char* name;     /* "topk" */
  const char* summary;  /* "the k elements largest in magnitude" */
  const char* source;   /* "Aji & Heafield, EMNLP 2017" */
  int32_t family;       /* gradcast_family */
  int32_t aggregation;  /* gradcast_aggregation, of its codes as they are */
  int32_t combination;  /* gradcast_combination */
  int32_t two_modes;    /* its paper and its authors' code differ */
  int32_t takes_k;      /* a sparsifier whose k says how much is sent */
  int32_t exact_count;  /* it sends exactly k elements; else the number depends on the gradient */
  int32_t shared_seed;  /* with one seed all workers select the same indices: their values add up */
  int32_t shared_scale; /* it has gradcast_level_* */
  int32_t feedback;     /* its source keeps a residual */
  const char* parameter_name;    /* "rank"; "" if it takes none */
  const char* parameter_meaning; /* "columns of the thin matrices" */
  double parameter_usual;
  double parameter_least;
  double parameter_most;
  int32_t parameter_whole; /* only whole numbers */
} gradcast_compressor_info;

/* The library's version: "0.1.0". */
GRADCAST_API const char* gradcast_compressor_version(void);

/* Compressors in the table. */
GRADCAST_API int32_t gradcast_compressor_count(void);
/* The compressor at a place from 0 to count - 1. */
GRADCAST_API gradcast_status gradcast_compressor_at(int32_t place,
                                                    const gradcast_compressor** compressor);
/* The compressor of a name, as `gradcast list` has it. */
GRADCAST_API gradcast_status gradcast_compressor_find(const char* name,
                                                      const gradcast_compressor** compressor);
GRADCAST_API gradcast_status gradcast_compressor_describe(const gradcast_compressor* compressor,
                                                          gradcast_compressor_info* info);

/* Bits of `notes`, which encodes write where it is not null. 0: encoded as defined. */
enum {
  GRADCAST_TRUNCATED = 1, /* more was selected than `capacity`; the rest stays in the residual */
  GRADCAST_NOT_FINITE = 2 /* u had infinities or NaNs; codes without scales do not look */
};

/* ---- sparsifiers: topk, randk, dgc, gaussian, trimmed, rtopk, threshold; and dense --------------
 */

/* A selection to be made of a tensor. Members that a compressor does not take are 0. */
typedef struct gradcast_selection {
  int64_t k;          /* elements wanted: <= 0 none, >= the tensor's all of them; dense and
                         threshold take none */
  int64_t candidates; /* rtopk's r; 0: 5 k */
  double parameter;   /* threshold's */
  uint64_t seed;      /* of what is drawn at random (randk, rtopk, dgc) */
  int32_t mode;       /* gradcast_mode */
  int32_t value_type; /* gradcast_value_type */
} gradcast_selection;

/* k of a tensor at a density of 0 to 1, as forecasts and `gradcast train` have it: elements x
 * density, rounded down; at least 1. */
GRADCAST_API gradcast_status gradcast_sparse_wanted(int64_t elements, double density, int64_t* k);

/* The largest number of index-value pairs that an encode of so many elements may write. On the
 * wire a pair takes 4 bytes of index, and 4 (fp32) or 2 (fp16, bf16) of value. */
GRADCAST_API gradcast_status gradcast_sparse_capacity(const gradcast_compressor* compressor,
                                                      int64_t elements, int64_t k, int64_t* pairs);

/* Selects elements of u = gradient + residual, by rising index.
 * gradient: `elements` floats. residual: as many, read and written; null: no error feedback.
 * values: `capacity` floats, or 16-bit codes by the value type. indices: `capacity` numbers from 0.
 * count: pairs written. With a smaller capacity than gradcast_sparse_capacity says, the first
 * pairs by index are written, and the others stay in the residual (GRADCAST_TRUNCATED). */
GRADCAST_API gradcast_status gradcast_sparse_encode(
    const gradcast_compressor* compressor, const float* gradient, float* residual, int64_t elements,
    const gradcast_selection* selection, void* values, int32_t* indices, int64_t capacity,
    int64_t* count, uint32_t* notes);

/* dense = the sum of all sets, added in their order; 0 where no set has an element. Set number s
 * has counts[s] pairs: values[s] (of the value type) and indices[s]. An index outside of 0 to
 * elements - 1 is ignored, so that sets may be filled up with 2^31 - 1 to one length. */
GRADCAST_API gradcast_status gradcast_sparse_decode(const void* const* values,
                                                    const int32_t* const* indices,
                                                    const int64_t* counts, int64_t sets,
                                                    int32_t value_type, float* dense,
                                                    int64_t elements);

/* ---- casts and quantisers: fp16, bf16, int8, qsgd, natural, terngrad, efsignsgd, onebit, signsgd
 * -- */

/* Words of 4 bytes of a tensor's code: scales (float), then the elements' codes without gaps, the
 * lowest bits first (kernels/packing.hpp). A cast's are its numbers of 16 bits, one after another.
 * parameter: from least to most; for compressors that take none it is ignored. */
GRADCAST_API gradcast_status gradcast_pack_words(const gradcast_compressor* compressor,
                                                 int64_t elements, double parameter,
                                                 int64_t* words);

/* residual: `elements` floats, read and written; null: no error feedback. packed: `words` words, as
 * gradcast_pack_words says. */
GRADCAST_API gradcast_status gradcast_pack_encode(const gradcast_compressor* compressor,
                                                  const float* gradient, float* residual,
                                                  int64_t elements, double parameter, uint64_t seed,
                                                  uint32_t* packed, int64_t words, uint32_t* notes);

/* dense = what the codes of `workers` workers say together, taken in their order: their sum, or
 * their vote (`combination`). A cast adds up in its own type. Each code has `words` words. */
GRADCAST_API gradcast_status gradcast_pack_decode(const gradcast_compressor* compressor,
                                                  const uint32_t* const* packed, int64_t workers,
                                                  int64_t words, double parameter, float* dense,
                                                  int64_t elements);

/* ---- quantisers whose workers share a scale: qsgd, terngrad
 * ---------------------------------------
 *
 * 1. Each worker asks for its own scale; an all-reduce finds the largest.
 * 2. Each encodes levels of that; an all-reduce adds up the words as unsigned numbers of 32 bits.
 * 3. Each decodes the sum.
 * Codes are lanes of 8, 16 or 32 bits, which hold the sum of all workers (kernels/levels.hpp). */

GRADCAST_API gradcast_status gradcast_level_words(const gradcast_compressor* compressor,
                                                  int64_t elements, double parameter,
                                                  int64_t workers, int64_t* words);

/* The scale that a worker would take by itself. It reads the residual (may be null), and writes no
 * residual. */
GRADCAST_API gradcast_status gradcast_level_scale(const gradcast_compressor* compressor,
                                                  const float* gradient, const float* residual,
                                                  int64_t elements, double parameter, float* scale,
                                                  uint32_t* notes);

/* own: what gradcast_level_scale said of this tensor. shared: the largest of all workers'. */
GRADCAST_API gradcast_status gradcast_level_encode(const gradcast_compressor* compressor,
                                                   const float* gradient, float* residual,
                                                   int64_t elements, double parameter,
                                                   uint64_t seed, float own, float shared,
                                                   int64_t workers, uint32_t* lanes, int64_t words);

/* dense = the sum of what all workers sent; lanes: the sum of their words. */
GRADCAST_API gradcast_status gradcast_level_decode(const gradcast_compressor* compressor,
                                                   const uint32_t* lanes, int64_t words,
                                                   double parameter, float shared, int64_t workers,
                                                   float* dense, int64_t elements);

/* ---- PowerSGD
 * ------------------------------------------------------------------------------------
 *
 * Vogels, Karimireddy & Jaggi, NeurIPS 2019 (mode paper); PyTorch's powerSGD_hook (mode code). A
 * tensor is a matrix: its first dimension by all others, row by row. A vector has one column, and
 * is not compressed. A worker keeps, for each matrix, its residual and Q (`second` floats, zeros at
 * first). An iteration:
 *
 * 1. gradcast_low_rank_first; an all-reduce of `sent`, divided by the workers: p.
 * 2. gradcast_low_rank_second; an all-reduce of q, divided by the workers.
 * 3. gradcast_low_rank_finish. */

typedef struct gradcast_matrix {
  int64_t rows;
  int64_t columns;
  int64_t rank;  /* columns of P and Q, 1 to 1024; at most the smaller side counts */
  uint64_t seed; /* of columns of Q that are drawn: all workers give the same */
  int32_t mode;  /* gradcast_mode */
} gradcast_matrix;

/* Floats in the first and in the second all-reduce. second = 0: the tensor is not compressed; it is
 * sent as it is, first = rows x columns, and the calls skip the second step. */
GRADCAST_API gradcast_status gradcast_low_rank_numbers(const gradcast_compressor* compressor,
                                                       const gradcast_matrix* matrix,
                                                       int64_t* first, int64_t* second);

/* residual: rows x columns floats; becomes u = gradient + residual (zeros if not compressed). For
 * no error feedback, let it be zeros. q: `second` floats, null if there are none. sent: `first`. */
GRADCAST_API gradcast_status gradcast_low_rank_first(const gradcast_compressor* compressor,
                                                     const gradcast_matrix* matrix,
                                                     const float* gradient, float* residual,
                                                     float* q, float* sent, uint32_t* notes);

/* u: the residual as the first step left it. p: the mean of `sent`; becomes orthonormal. q: becomes
 * u^T p, which is to be sent. */
GRADCAST_API gradcast_status gradcast_low_rank_second(const gradcast_compressor* compressor,
                                                      const gradcast_matrix* matrix, const float* u,
                                                      float* p, float* q);

/* p: as the second step left it; q: the mean over the workers. dense = p q^T, rows x columns
 * floats: the mean gradient. The residual becomes u - dense. */
GRADCAST_API gradcast_status gradcast_low_rank_finish(const gradcast_compressor* compressor,
                                                      const gradcast_matrix* matrix, const float* p,
                                                      const float* q, float* dense,
                                                      float* residual);

#ifdef __cplusplus
}
#endif

#endif
