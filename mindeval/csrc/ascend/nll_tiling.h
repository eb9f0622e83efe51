// How one launch of the token statistics kernel is cut to size. Plain C++17 without any CANN header, so that the host code,
// the kernel and the tests on machines without a card share one description of the unified buffer.
#pragma once
#include <cstdint>

namespace mindeval {

// The kernel's output: float32 [4, rows].
enum Statistic : uint32_t {
  kMax,     // largest logit of the row
  kSum,     // sum of exp(logit - largest logit)
  kTarget,  // the label's logit; 0 if the label is elsewhere
  kRank,    // logits above the label's, plus equal logits at lower ids; 0 if the label is elsewhere or no rank was asked for
  kStatistics
};

// A label is an id in [0, vocab), or one of these.
constexpr int32_t kIgnored = -1;            // the row is not read; its statistics are those of a certain token: 0, 1, 0, 0
constexpr int32_t kElsewhere = 0x7fffffff;  // the row is read, the label belongs to another shard of the vocabulary

constexpr uint32_t kBlockBytes = 32;       // unit of addresses and transfers of the unified buffer
constexpr uint32_t kLanes = 64;            // float32 values that a vector instruction handles at a time (256 bytes)
constexpr uint32_t kTileUnit = 256;        // tiles are multiples of it: one bit per value still fills whole 32-byte units
constexpr uint32_t kRowsPerBlock = 64;     // rows whose labels and statistics are moved together
constexpr uint32_t kScalarSlots = 4;       // 32-byte slots in which reductions leave one number for the scalar unit
constexpr uint32_t kSelectBytes = 8 * 1024;  // Select keeps temporaries in the last 8 KiB of the unified buffer
constexpr uint32_t kMaxVocab = 1u << 24;   // counts travel as float32, exact up to here

// Everything the kernel must know about the arrays. Row r starts at (r / groupRows) * groupStride + (r % groupRows) * rowStride
// elements: with groupRows = T - 1, groupStride = T * V, rowStride = V that is the view logits[:, :-1] of [B, T, V].
struct NllShape {
  uint32_t rows;
  uint32_t vocab;  // columns that count; a padded vocabulary has a larger rowStride
  uint32_t groupRows;
  uint32_t withRank;
  uint64_t groupStride;
  uint64_t rowStride;
};

struct NllTiling {
  uint32_t cores;  // vector cores to launch
  uint32_t tile;   // logits of a row that are on chip at a time; 0 if not even the smallest tile fits
};

constexpr uint64_t RoundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

// Bytes of unified buffer per tile, in the order of the kernel's Init.
constexpr uint64_t TileBytes(uint64_t tile, uint64_t elementBytes) {
  return 2 * tile * elementBytes  // the tile at work and the next one on its way
         + 3 * tile * 4           // values, ones, indicator (float32)
         + tile / 8               // one bit per comparison
         + tile / 8;              // work space of the reductions: two floats per 64 values
}

// Bytes that do not depend on the tile.
constexpr uint64_t FixedBytes(uint64_t elementBytes) {
  return kScalarSlots * kBlockBytes                         // results of reductions
         + kRowsPerBlock * 4                                // labels
         + kRowsPerBlock * kBlockBytes                      // the labels' logits as stored, one per 32-byte unit
         + kRowsPerBlock * (kBlockBytes / elementBytes) * 4  // the same as float32
         + kStatistics * kRowsPerBlock * 4;                 // statistics on their way out
}

constexpr uint64_t UnifiedBufferBytes(uint64_t tile, uint64_t elementBytes) {
  return TileBytes(tile, elementBytes) + FixedBytes(elementBytes) + kSelectBytes;
}

// The fewest tiles that fit, of nearly equal size (a short last tile would leave the vector unit waiting for the transfer).
constexpr NllTiling ChooseTiling(uint64_t rows, uint64_t vocab, uint64_t elementBytes, uint64_t availableCores,
                                 uint64_t unifiedBufferBytes) {
  NllTiling tiling{static_cast<uint32_t>(rows < availableCores ? rows : availableCores), 0};
  const uint64_t fixed = FixedBytes(elementBytes) + kSelectBytes;
  const uint64_t perUnit = TileBytes(kTileUnit, elementBytes);
  if (unifiedBufferBytes < fixed + perUnit) return tiling;
  const uint64_t largest = (unifiedBufferBytes - fixed) / perUnit * kTileUnit;
  const uint64_t tiles = (vocab + largest - 1) / largest;
  tiling.tile = static_cast<uint32_t>(RoundUp((vocab + tiles - 1) / tiles, kTileUnit));
  return tiling;
}

}  // namespace mindeval
