// Runs a kernel of nll_kernel.cpp's interface on the stand-in, core after core, and says which rule it broke, if any.
#pragma once
#include <string>

#include "kernel_operator.h"
#include "nll_tiling.h"

namespace stand_in {

using Kernel = void (*)(GM_ADDR, GM_ADDR, GM_ADDR, uint32_t, uint32_t, uint32_t, uint32_t, uint64_t, uint64_t, uint32_t);

struct Launch {
  void *logits;
  uint64_t logits_bytes;
  int32_t *labels;
  float *statistics;
  mindeval::NllShape shape;
  uint32_t tile;
  uint32_t cores;
};

inline std::string Run(Kernel kernel, const Launch &launch) {
  const size_t rows = launch.shape.rows;
  const size_t output = mindeval::kStatistics * rows * sizeof(float);
  global_arrays = {{static_cast<uint8_t *>(launch.logits), launch.logits_bytes, false, {}},
                   {reinterpret_cast<uint8_t *>(launch.labels), rows * sizeof(int32_t), false, {}},
                   {reinterpret_cast<uint8_t *>(launch.statistics), output, true, std::vector<bool>(output, false)}};
  core_count = launch.cores;
  try {
    for (core_index = 0; core_index < core_count; ++core_index) {
      Core simulated;
      core = &simulated;
      kernel(global_arrays[0].begin, global_arrays[1].begin, global_arrays[2].begin, launch.shape.rows, launch.shape.vocab,
             launch.shape.groupRows, launch.shape.withRank, launch.shape.groupStride, launch.shape.rowStride, launch.tile);
      simulated.CheckEnd();
    }
    for (bool byte : global_arrays[2].written) Require(byte, "a part of the output was never written");
  } catch (const Violation &violation) {
    return violation.what();
  }
  return "";
}

}  // namespace stand_in
