// The shared library of the tests: the kernels as they are, and the host's choice of tiles.
#include "run_kernel.h"

#include "nll_kernel.cpp"
#include "nll_view.h"

extern "C" const char *run(int dtype, void *logits, uint64_t logits_bytes, int32_t *labels, float *statistics, uint32_t rows,
                           uint32_t vocab, uint32_t group_rows, uint32_t with_rank, uint64_t group_stride, uint64_t row_stride,
                           uint32_t tile, uint32_t cores) {
  static std::string broken;
  const stand_in::Kernel kernel = dtype == 0 ? mindeval_nll_float32 : dtype == 1 ? mindeval_nll_float16 : mindeval_nll_bfloat16;
  broken = stand_in::Run(kernel, {logits, logits_bytes, labels, statistics,
                                  {rows, vocab, group_rows, with_rank, group_stride, row_stride}, tile, cores});
  return broken.c_str();
}

extern "C" void choose_tiling(uint64_t rows, uint64_t vocab, uint64_t element_bytes, uint64_t cores, uint64_t unified_buffer,
                              uint32_t *chosen) {
  const mindeval::NllTiling tiling = mindeval::ChooseTiling(rows, vocab, element_bytes, cores, unified_buffer);
  chosen[0] = tiling.cores;
  chosen[1] = tiling.tile;
}

extern "C" uint64_t unified_buffer_bytes(uint64_t tile, uint64_t element_bytes) {
  return mindeval::UnifiedBufferBytes(tile, element_bytes);
}

// The shape that the glue makes of a tensor's sizes and strides; what is wrong with them, or "".
extern "C" const char *shape_of(uint32_t axes, const int64_t *sizes, const int64_t *strides, int64_t vocab, bool with_rank,
                                mindeval::NllShape *shape) {
  static std::string wrong;
  wrong.clear();
  try {
    *shape = mindeval::ShapeOf({sizes, sizes + axes}, {strides, strides + axes}, vocab, with_rank);
  } catch (const std::invalid_argument &error) {
    wrong = error.what();
  }
  return wrong.c_str();
}
