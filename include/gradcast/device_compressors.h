/* The compressors of compressors.h on a GPU: a C interface to gradcast's CUDA kernels. The library
 * libgradcast_cuda_compressors.so has it, where nvcc was at hand; for tests, the same functions run
 * on the CPU, thread by thread (libgradcast_emulated_compressors.so).
 *
 * Results are bit for bit those of compressors.h (PowerSGD: to the rounding of sums of
 * floats). A call is prepared once for a list of tensors, and run in every iteration:
 *
 *     gradcast_workspace lent = {NULL, 0, stream};
 *     gradcast_call* encode;
 *     gradcast_prepare_sparse_encode("topk", &selection, &tensor, 1, &lent, NULL);  // lent.bytes
 *     lent.memory = allocate_on_the_device(lent.bytes);
 *     gradcast_prepare_sparse_encode("topk", &selection, &tensor, 1, &lent, &encode);
 *     gradcast_run(encode, 0, stream);    // each iteration: enqueues, and waits for nothing
 *     gradcast_release(encode);           // the memory is the caller's again
 *
 * Gradients, and the means that decodes write, are fp32, fp16 or bf16. Kernels read and write them
 * as they are, and compute in fp32: a decode rounds once, to nearest. Residuals are fp32.
 *
 * Pointers to tensors are to memory of the current device, aligned to a number (to four of them is
 * faster). Preparing plans on the host, and enqueues an upload of tables: where k or a pointer
 * changes, prepare anew in the same workspace. Running needs no memory, waits for nothing and can
 * be captured in a CUDA graph. `stream` is a cudaStream_t, null the default stream.
 *
 * Errors: as in compressors.h; gradcast_device_error() has the line. */
#ifndef GRADCAST_DEVICE_COMPRESSORS_H
#define GRADCAST_DEVICE_COMPRESSORS_H

#include "gradcast/compressors.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The reason why this thread's last failed call of these failed, "" if none has failed. */
GRADCAST_API const char* gradcast_device_error(void);

/* "cuda", or "emulator". */
GRADCAST_API const char* gradcast_device_kind(void);

/* Memory on the device for a call's tables and scratch, aligned to 256 bytes. */
typedef struct gradcast_workspace {
  void* memory;  /* null: nothing is prepared, and `bytes` is written */
  int64_t bytes; /* of the memory; where it is null or too small, the bytes needed are written */
  void* stream;  /* on which tables are uploaded; run on it, or make the other stream wait for it */
} gradcast_workspace;

/* A prepared call. One thread at a time. */
typedef struct gradcast_call gradcast_call;

/* Enqueues a step of a call: 0, and of calls with more of them 1 and 2. */
GRADCAST_API gradcast_status gradcast_run(gradcast_call* call, int32_t step, void* stream);

/* Enqueues the number that is added to each tensor's seed (modulo 2^64) from the next run on; 0 at
 * first. */
GRADCAST_API gradcast_status gradcast_set_round(gradcast_call* call, uint64_t round, void* stream);

/* Null is fine. The workspace is free as soon as what was run is done. */
GRADCAST_API void gradcast_release(gradcast_call* call);

/* ---- sparsifiers: topk, randk, dgc, gaussian, trimmed, rtopk, threshold; and dense --------------
 */

typedef struct gradcast_sparse_tensor {
  const void* gradient; /* elements */
  float* residual;      /* elements, read and written; no error feedback: zeros before each run */
  int64_t elements;
  int64_t k;
  uint64_t seed;
  void* values;          /* capacity floats, or 16-bit codes by the selection's value type */
  int32_t* indices;      /* capacity */
  int64_t capacity;      /* gradcast_sparse_capacity */
  int64_t* count;        /* one number: pairs written */
  uint32_t* notes;       /* one number, as the notes of compressors.h */
  int32_t gradient_type; /* gradcast_value_type */
} gradcast_sparse_tensor;

/* selection: its k and seed are the tensors'. */
GRADCAST_API gradcast_status gradcast_prepare_sparse_encode(const char* compressor,
                                                            const gradcast_selection* selection,
                                                            const gradcast_sparse_tensor* tensors,
                                                            int64_t number,
                                                            gradcast_workspace* workspace,
                                                            gradcast_call** call);

/* A worker's pairs. Indices rise; those from `elements` on are ignored, so that sets may be filled
 * up with 2^31 - 1 to one length. */
typedef struct gradcast_sparse_set {
  const void* values;
  const int32_t* indices;
  const int64_t* count; /* one number on the device */
} gradcast_sparse_set;

/* dense[elements], of dense_type (gradcast_value_type) = factor x the sum of the sets, in their
 * order. */
GRADCAST_API gradcast_status gradcast_prepare_sparse_decode(
    const gradcast_sparse_set* sets, int64_t number, int32_t value_type, float factor, void* dense,
    int32_t dense_type, int64_t elements, gradcast_workspace* workspace, gradcast_call** call);

/* A step of gTop-k's tree: of the sum of two sets of one value type, the k largest in magnitude (of
 * equals those of the lowest indices), by rising index. sets: two. An index of 2^31 - 1 ends a set.
 * most: pairs that a set may have, 1 to 2^30 - 1. values, indices: room for k. count: one number,
 * the pairs written: k, or fewer where the sets name fewer elements. Values of 16 bits are rounded,
 * and what rounding loses is lost. Shi et al., ICDCS 2019, Algorithm 2. */
GRADCAST_API gradcast_status gradcast_prepare_sparse_merge(
    const gradcast_sparse_set* sets, int64_t most, int64_t k, int32_t value_type, void* values,
    int32_t* indices, int64_t* count, gradcast_workspace* workspace, gradcast_call** call);

/* DGC's momentum correction and masking: Lin et al., ICLR 2018, sections 3.1 and 3.2. */
typedef struct gradcast_momentum_tensor {
  const void* gradient; /* elements */
  float* velocity;      /* elements, read and written: what is then encoded as the gradient */
  int64_t elements;
  const int32_t* indices; /* count: what was sent; null: there is no masking */
  const int64_t* count;   /* one number on the device */
  int32_t gradient_type;  /* gradcast_value_type */
} gradcast_momentum_tensor;

/* Step 0: velocity = momentum x velocity + gradient, rounded twice. Step 1: velocity is 0 at the
 * indices. It needs no workspace. momentum: 0 to below 1. */
GRADCAST_API gradcast_status gradcast_prepare_momentum(double momentum,
                                                       const gradcast_momentum_tensor* tensors,
                                                       int64_t number, gradcast_call** call);

/* ---- casts and quantisers -----------------------------------------------------------------------
 */

typedef struct gradcast_pack_tensor {
  const void* gradient; /* elements */
  float* residual;      /* elements, read and written; null: no error feedback */
  int64_t elements;
  uint64_t seed;
  uint32_t* packed;      /* gradcast_pack_words */
  uint32_t* notes;       /* one number */
  int32_t gradient_type; /* gradcast_value_type */
} gradcast_pack_tensor;

GRADCAST_API gradcast_status gradcast_prepare_pack_encode(const char* compressor, double parameter,
                                                          const gradcast_pack_tensor* tensors,
                                                          int64_t number,
                                                          gradcast_workspace* workspace,
                                                          gradcast_call** call);

/* packed: of all workers, of one tensor. dense[elements] = factor x gradcast_pack_decode's. */
typedef struct gradcast_unpack_tensor {
  const uint32_t* const* packed; /* an array on the host, of pointers to the device */
  void* dense;
  int64_t elements;
  int32_t dense_type; /* gradcast_value_type */
} gradcast_unpack_tensor;

GRADCAST_API gradcast_status gradcast_prepare_pack_decode(const char* compressor, double parameter,
                                                          int64_t workers, float factor,
                                                          const gradcast_unpack_tensor* tensors,
                                                          int64_t number,
                                                          gradcast_workspace* workspace,
                                                          gradcast_call** call);

/* ---- quantisers whose workers share a scale: qsgd, terngrad -------------------------------------
 */

typedef struct gradcast_level_tensor {
  void* gradient;  /* elements; decode writes it */
  float* residual; /* elements, written by step 1; null: no error feedback, or a decode */
  int64_t elements;
  uint64_t seed;
  float* scale; /* one number: step 0 writes the tensor's own, step 1 and decode read the shared */
  uint32_t* lanes;       /* gradcast_level_words */
  uint32_t* notes;       /* one number, of step 0; null in a decode */
  int32_t gradient_type; /* gradcast_value_type */
} gradcast_level_tensor;

/* Step 0 finds the scales; the caller makes each the largest of all workers'; step 1 codes; the
 * caller adds up all workers' words, as unsigned numbers of 32 bits. */
GRADCAST_API gradcast_status gradcast_prepare_level_encode(
    const char* compressor, double parameter, int64_t workers, const gradcast_level_tensor* tensors,
    int64_t number, gradcast_workspace* workspace, gradcast_call** call);

/* gradient = factor x the sum of what all workers sent. */
GRADCAST_API gradcast_status gradcast_prepare_level_decode(const char* compressor, double parameter,
                                                           int64_t workers, float factor,
                                                           const gradcast_level_tensor* tensors,
                                                           int64_t number,
                                                           gradcast_workspace* workspace,
                                                           gradcast_call** call);

/* ---- PowerSGD -----------------------------------------------------------------------------------
 */

typedef struct gradcast_low_rank_tensor {
  const void* gradient; /* rows x columns */
  float* residual; /* rows x columns, read and written; no error feedback: zeros before step 0 */
  int64_t rows;
  int64_t columns;
  uint64_t seed;         /* of columns of Q that are drawn: the same for all workers */
  float* p;              /* `first` floats (gradcast_low_rank_numbers): step 0 writes them */
  float* q;              /* `second` floats, zeros at first; kept; step 1 writes them */
  void* dense;           /* rows x columns: step 2 writes it; may be the gradient */
  uint32_t* notes;       /* one number */
  int32_t gradient_type; /* gradcast_value_type, of gradient and dense */
} gradcast_low_rank_tensor;

/* Step 0: p; the caller makes it the mean over the workers. Step 1: q, likewise. Step 2: dense. */
GRADCAST_API gradcast_status gradcast_prepare_low_rank(
    const char* compressor, int64_t rank, int32_t mode, const gradcast_low_rank_tensor* tensors,
    int64_t number, gradcast_workspace* workspace, gradcast_call** call);

#ifdef __cplusplus
}
#endif

#endif
