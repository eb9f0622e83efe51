// From a tensor's sizes and strides to what the kernel must know. Plain C++17 for the host, tested without a card.
#pragma once
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "nll_tiling.h"

namespace mindeval {

// The rows of logits [..., V] with these strides (in elements), as the kernel addresses them. The last axis must be
// contiguous, and the axes before it must fold into groups of evenly spaced rows: any slice of [B, T, V] along T does.
inline NllShape ShapeOf(const std::vector<int64_t> &sizes, const std::vector<int64_t> &strides, int64_t vocab, bool withRank) {
  const size_t axes = sizes.size();
  if (axes < 2 || axes > 3) throw std::invalid_argument("logits must be [N, V] or [B, T, V]");
  if (vocab < 1 || vocab > sizes.back() || vocab > static_cast<int64_t>(kMaxVocab)) {
    throw std::invalid_argument("the vocabulary must have between 1 and " + std::to_string(kMaxVocab) + " classes");
  }
  if (strides.back() != 1 && sizes.back() != 1) throw std::invalid_argument("the classes must be adjacent in memory");
  const int64_t groups = axes == 3 ? sizes[0] : 1;
  const int64_t groupRows = sizes[axes - 2];
  if (groups * groupRows > 0xffffffffLL) throw std::invalid_argument("too many rows for one launch");
  return NllShape{static_cast<uint32_t>(groups * groupRows),
                  static_cast<uint32_t>(vocab),
                  static_cast<uint32_t>(groupRows > 0 ? groupRows : 1),
                  withRank ? 1u : 0u,
                  static_cast<uint64_t>(axes == 3 ? strides[0] : 0),
                  static_cast<uint64_t>(strides[axes - 2])};
}

}  // namespace mindeval
