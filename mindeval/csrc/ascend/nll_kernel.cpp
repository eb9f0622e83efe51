// Statistics of each token's distribution over the vocabulary, in one pass over the logits, on Ascend vector cores.
//
// For every row of logits x[0..V) and its label t the kernel returns four float32 numbers,
//     max = max_i x_i,   sum = sum_i exp(x_i - max),   x_t,   rank = #{i: x_i > x_t} + #{i < t: x_i = x_t},
// and the host finishes in float64: nll = log(sum) + (max - x_t). No array of the logits' size is ever written.
//
// How to read it. A core has four units that run at their own pace: the scalar unit runs this program and hands instructions
// to MTE2 (global memory -> unified buffer), V (vector arithmetic in the unified buffer) and MTE3 (unified buffer -> global
// memory). A unit that uses what another one made must wait for it: Wait<FROM_TO>() below, or a queue, which waits by itself
// (EnQue/DeQue: the data has arrived; FreeTensor/AllocTensor: the buffer may be overwritten). Two vector instructions that
// depend on each other are separated by PipeBarrier<PIPE_V>().
//
// The way of a row. Rows are shared out evenly among the cores; a core takes them in blocks of 64, so that labels come in and
// statistics go out in few transfers. A row is read in tiles; while one tile is worked on, the next is already on its way.
// Tiles are merged by the online rule: when a tile raises the maximum from m to m', the sum so far is multiplied by exp(m - m').
//
// Special values. -inf adds nothing. NaN or +inf anywhere makes the sum NaN, and so the loss. A row of -inf has sum 0.
// The maximum starts at the lowest finite float, so that -inf - max never becomes inf - inf.
#include "kernel_operator.h"
#include "nll_tiling.h"

using namespace AscendC;

namespace mindeval {

constexpr float kLowest = -3.4028235e38f;

template <HardEvent event>
__aicore__ inline void Wait() {
  const event_t id = static_cast<event_t>(GetTPipePtr()->FetchEventID(event));
  SetFlag<event>(id);
  WaitFlag<event>(id);
}

template <typename T>
class TokenStatistics {
 public:
  __aicore__ inline void Init(GM_ADDR logits, GM_ADDR labels, GM_ADDR statistics, const NllShape &shape, uint32_t tile) {
    shape_ = shape;
    tile_ = tile;
    const uint32_t lastRow = shape.rows - 1;
    logits_.SetGlobalBuffer(reinterpret_cast<__gm__ T *>(logits), RowStart(lastRow) + shape.vocab);
    labels_.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t *>(labels), shape.rows);
    statistics_.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(statistics), static_cast<uint64_t>(kStatistics) * shape.rows);

    pipe_.InitBuffer(tiles_, 2, tile * sizeof(T));
    pipe_.InitBuffer(values_, tile * sizeof(float));
    pipe_.InitBuffer(ones_, tile * sizeof(float));
    pipe_.InitBuffer(indicator_, tile * sizeof(float));
    pipe_.InitBuffer(bits_, tile / 8);
    pipe_.InitBuffer(work_, tile / 8);
    pipe_.InitBuffer(scalars_, kScalarSlots * kBlockBytes);
    pipe_.InitBuffer(blockLabels_, kRowsPerBlock * sizeof(int32_t));
    pipe_.InitBuffer(storedTargets_, kRowsPerBlock * kBlockBytes);
    pipe_.InitBuffer(targets_, kRowsPerBlock * kPerUnit * sizeof(float));
    pipe_.InitBuffer(blockStatistics_, kStatistics * kRowsPerBlock * sizeof(float));
  }

  __aicore__ inline void Process() {
    // values_ is compared in whole groups of 64: what lies behind a short tile must be defined, though it never counts.
    Duplicate(values_.template Get<float>(), 0.0f, static_cast<int32_t>(tile_));
    Duplicate(ones_.template Get<float>(), 1.0f, static_cast<int32_t>(tile_));
    PipeBarrier<PIPE_V>();

    const uint32_t cores = static_cast<uint32_t>(GetBlockNum());
    const uint32_t core = static_cast<uint32_t>(GetBlockIdx());
    const uint32_t share = shape_.rows / cores;
    const uint32_t remainder = shape_.rows % cores;  // the first cores take one row more
    const uint32_t first = core * share + Smaller(core, remainder);
    const uint32_t last = first + share + (core < remainder ? 1 : 0);
    for (uint32_t row = first; row < last; row += kRowsPerBlock) {
      ProcessBlock(row, Smaller(kRowsPerBlock, last - row));
    }
  }

 private:
  static constexpr uint32_t kPerUnit = kBlockBytes / sizeof(T);       // logits in one 32-byte unit
  static constexpr uint32_t kSlot = kBlockBytes / sizeof(float);      // floats in one scalar slot
  static constexpr uint32_t kMaxSlot = 0 * kSlot, kSumSlot = 1 * kSlot, kAboveSlot = 2 * kSlot, kEqualSlot = 3 * kSlot;

  struct Running {  // of the row at work
    float max;
    float sum;
    float rank;
  };
  struct Piece {  // the next tile to fetch
    uint32_t row;
    uint32_t start;
  };

  __aicore__ inline static uint32_t Smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

  __aicore__ inline uint64_t RowStart(uint32_t row) const {
    return static_cast<uint64_t>(row / shape_.groupRows) * shape_.groupStride +
           static_cast<uint64_t>(row % shape_.groupRows) * shape_.rowStride;
  }

  __aicore__ inline int32_t Label(uint32_t row) { return blockLabels_.template Get<int32_t>().GetValue(row); }

  // ---- a block of up to 64 rows -------------------------------------------------------------------------------------

  __aicore__ inline void ProcessBlock(uint32_t first, uint32_t rows) {
    FetchLabels(first, rows);
    FetchTargets(first, rows);

    Piece next{0, 0};
    SkipIgnored(next, rows);
    FetchTile(next, first, rows);
    for (uint32_t row = 0; row < rows; ++row) {
      const int32_t label = Label(row);
      if (label == kIgnored) {
        Keep(row, Running{0.0f, 1.0f, 0.0f}, 0.0f);
        continue;
      }
      const bool here = static_cast<uint32_t>(label) < shape_.vocab;
      const float target = here ? targets_.template Get<float>().GetValue(row * kPerUnit) : 0.0f;
      Running running{kLowest, 0.0f, 0.0f};
      for (uint32_t start = 0; start < shape_.vocab; start += tile_) {
        FetchTile(next, first, rows);
        MergeTile(running, start, label, target, here && shape_.withRank != 0);
      }
      Keep(row, running, target);
    }
    SendStatistics(first, rows);
  }

  __aicore__ inline void FetchLabels(uint32_t first, uint32_t rows) {
    Wait<HardEvent::S_MTE2>();  // the labels of the block before are no longer needed
    const DataCopyExtParams size{1, static_cast<uint32_t>(rows * sizeof(int32_t)), 0, 0, 0};
    const DataCopyPadExtParams<int32_t> noPadding{false, 0, 0, 0};
    DataCopyPad(blockLabels_.template Get<int32_t>(), labels_[first], size, noPadding);
    Wait<HardEvent::MTE2_S>();
  }

  // The labels' own logits are needed before the rows are read (to count what is above them): one small transfer each, all
  // under way together. A row without a label here fetches its first logit, which nobody looks at. (That the block before has
  // been converted is known: the scalar unit waited for it, and FetchLabels has just waited for the scalar unit.)
  __aicore__ inline void FetchTargets(uint32_t first, uint32_t rows) {
    LocalTensor<T> stored = storedTargets_.template Get<T>();
    LocalTensor<float> targets = targets_.template Get<float>();
    const DataCopyExtParams one{1, static_cast<uint32_t>(sizeof(T)), 0, 0, 0};
    const DataCopyPadExtParams<T> fillUnit{true, 0, static_cast<uint8_t>(kPerUnit - 1), static_cast<T>(0)};
    for (uint32_t row = 0; row < rows; ++row) {
      const uint32_t label = static_cast<uint32_t>(Label(row));
      DataCopyPad(stored[row * kPerUnit], logits_[RowStart(first + row) + (label < shape_.vocab ? label : 0)], one, fillUnit);
    }
    Wait<HardEvent::MTE2_V>();
    Wait<HardEvent::S_V>();  // the targets of the block before are no longer needed
    ToFloat32(targets, stored, rows * kPerUnit);
    Wait<HardEvent::V_S>();
  }

  __aicore__ inline void Keep(uint32_t row, const Running &running, float target) {
    LocalTensor<float> kept = blockStatistics_.template Get<float>();
    kept.SetValue(kMax * kRowsPerBlock + row, running.max);
    kept.SetValue(kSum * kRowsPerBlock + row, running.sum);
    kept.SetValue(kTarget * kRowsPerBlock + row, target);
    kept.SetValue(kRank * kRowsPerBlock + row, running.rank);
  }

  __aicore__ inline void SendStatistics(uint32_t first, uint32_t rows) {
    Wait<HardEvent::S_MTE3>();
    const DataCopyExtParams size{1, static_cast<uint32_t>(rows * sizeof(float)), 0, 0, 0};
    for (uint32_t statistic = 0; statistic < kStatistics; ++statistic) {
      DataCopyPad(statistics_[static_cast<uint64_t>(statistic) * shape_.rows + first],
                  blockStatistics_.template Get<float>()[statistic * kRowsPerBlock], size);
    }
    Wait<HardEvent::MTE3_S>();  // the next block may overwrite them
  }

  // ---- a tile of a row ----------------------------------------------------------------------------------------------

  __aicore__ inline void SkipIgnored(Piece &next, uint32_t rows) {
    while (next.row < rows && Label(next.row) == kIgnored) ++next.row;
  }

  // Starts the transfer of the next tile of the block, if there is one.
  __aicore__ inline void FetchTile(Piece &next, uint32_t first, uint32_t rows) {
    if (next.row >= rows) return;
    const uint32_t length = Smaller(tile_, shape_.vocab - next.start);
    LocalTensor<T> tile = tiles_.template AllocTensor<T>();
    const DataCopyExtParams size{1, static_cast<uint32_t>(length * sizeof(T)), 0, 0, 0};
    const DataCopyPadExtParams<T> noPadding{false, 0, 0, static_cast<T>(0)};
    DataCopyPad(tile, logits_[RowStart(first + next.row) + next.start], size, noPadding);
    tiles_.EnQue(tile);

    next.start += tile_;
    if (next.start < shape_.vocab) return;
    next.start = 0;
    ++next.row;
    SkipIgnored(next, rows);
  }

  __aicore__ inline void MergeTile(Running &running, uint32_t start, int32_t label, float target, bool withRank) {
    const uint32_t length = Smaller(tile_, shape_.vocab - start);
    LocalTensor<float> values = values_.template Get<float>();
    LocalTensor<float> work = work_.template Get<float>();
    LocalTensor<float> scalars = scalars_.template Get<float>();

    LocalTensor<T> tile = tiles_.template DeQue<T>();
    ToFloat32(values, tile, length);
    tiles_.FreeTensor(tile);
    PipeBarrier<PIPE_V>();

    Wait<HardEvent::S_V>();  // the numbers of the tile before have been read
    ReduceMax(scalars[kMaxSlot], values, work, static_cast<int32_t>(length));
    PipeBarrier<PIPE_V>();
    // Equal logits rank above the label if their id is lower.
    const uint32_t labelAt = static_cast<uint32_t>(label) - start;  // wraps round to a large number for a label further left
    const bool labelRight = withRank && label >= static_cast<int32_t>(start + length);
    const bool labelInside = withRank && labelAt < length && labelAt > 0;
    if (withRank) Count(kAboveSlot, labelRight ? CMPMODE::GE : CMPMODE::GT, target, length);
    if (labelInside) Count(kEqualSlot, CMPMODE::EQ, target, labelAt);
    Wait<HardEvent::V_S>();
    const float tileMax = scalars.GetValue(kMaxSlot);
    if (withRank) running.rank += scalars.GetValue(kAboveSlot);
    if (labelInside) running.rank += scalars.GetValue(kEqualSlot);

    const float max = tileMax > running.max ? tileMax : running.max;
    Adds(values, values, -max, static_cast<int32_t>(length));
    PipeBarrier<PIPE_V>();
    Exp(values, values, static_cast<int32_t>(length));
    PipeBarrier<PIPE_V>();
    ReduceSum(scalars[kSumSlot], values, work, static_cast<int32_t>(length));
    PipeBarrier<PIPE_V>();
    Wait<HardEvent::V_S>();
    const float tileSum = scalars.GetValue(kSumSlot);
    if (max > running.max && running.sum > 0.0f) running.sum *= ExpOf(running.max - max);
    running.sum += tileSum;
    running.max = max;
  }

  // Leaves in the slot how many of the first `length` values compare true with the target: a sum of ones, exact below 2^24.
  __aicore__ inline void Count(uint32_t slot, CMPMODE mode, float target, uint32_t length) {
    LocalTensor<uint8_t> bits = bits_.template Get<uint8_t>();
    LocalTensor<float> indicator = indicator_.template Get<float>();
    const uint32_t whole = (length + kLanes - 1) / kLanes * kLanes;  // comparisons come in whole groups
    CompareScalar(bits, values_.template Get<float>(), target, mode, whole);
    PipeBarrier<PIPE_V>();
    Select(indicator, bits, ones_.template Get<float>(), 0.0f, SELMODE::VSEL_TENSOR_SCALAR_MODE, whole);
    PipeBarrier<PIPE_V>();
    ReduceSum(scalars_.template Get<float>()[slot], indicator, work_.template Get<float>(), static_cast<int32_t>(length));
    PipeBarrier<PIPE_V>();
  }

  // The scalar unit has no exponential.
  __aicore__ inline float ExpOf(float x) {
    LocalTensor<float> slot = scalars_.template Get<float>()[kSumSlot];
    Wait<HardEvent::S_V>();
    Duplicate(slot, x, static_cast<int32_t>(kSlot));
    PipeBarrier<PIPE_V>();
    Exp(slot, slot, static_cast<int32_t>(kSlot));
    Wait<HardEvent::V_S>();
    return slot.GetValue(0);
  }

  __aicore__ inline void ToFloat32(const LocalTensor<float> &to, const LocalTensor<T> &from, uint32_t length) {
    if constexpr (sizeof(T) == sizeof(float)) {
      Adds(to, from, 0.0f, static_cast<int32_t>(length));
    } else {
      Cast(to, from, RoundMode::CAST_NONE, static_cast<int32_t>(length));
    }
  }

  NllShape shape_;
  uint32_t tile_;
  GlobalTensor<T> logits_;
  GlobalTensor<int32_t> labels_;
  GlobalTensor<float> statistics_;
  TPipe pipe_;
  TQue<QuePosition::VECIN, 2> tiles_;
  TBuf<QuePosition::VECCALC> values_, ones_, indicator_, bits_, work_, scalars_, blockLabels_, storedTargets_, targets_,
      blockStatistics_;
};

template <typename T>
__aicore__ inline void Run(GM_ADDR logits, GM_ADDR labels, GM_ADDR statistics, uint32_t rows, uint32_t vocab, uint32_t groupRows,
                           uint32_t withRank, uint64_t groupStride, uint64_t rowStride, uint32_t tile) {
  TokenStatistics<T> kernel;
  kernel.Init(logits, labels, statistics, NllShape{rows, vocab, groupRows, withRank, groupStride, rowStride}, tile);
  kernel.Process();
}

}  // namespace mindeval

extern "C" __global__ __aicore__ void mindeval_nll_float32(GM_ADDR logits, GM_ADDR labels, GM_ADDR statistics, uint32_t rows,
                                                           uint32_t vocab, uint32_t groupRows, uint32_t withRank,
                                                           uint64_t groupStride, uint64_t rowStride, uint32_t tile) {
  mindeval::Run<float>(logits, labels, statistics, rows, vocab, groupRows, withRank, groupStride, rowStride, tile);
}

extern "C" __global__ __aicore__ void mindeval_nll_float16(GM_ADDR logits, GM_ADDR labels, GM_ADDR statistics, uint32_t rows,
                                                           uint32_t vocab, uint32_t groupRows, uint32_t withRank,
                                                           uint64_t groupStride, uint64_t rowStride, uint32_t tile) {
  mindeval::Run<half>(logits, labels, statistics, rows, vocab, groupRows, withRank, groupStride, rowStride, tile);
}

extern "C" __global__ __aicore__ void mindeval_nll_bfloat16(GM_ADDR logits, GM_ADDR labels, GM_ADDR statistics, uint32_t rows,
                                                            uint32_t vocab, uint32_t groupRows, uint32_t withRank,
                                                            uint64_t groupStride, uint64_t rowStride, uint32_t tile) {
  mindeval::Run<bfloat16_t>(logits, labels, statistics, rows, vocab, groupRows, withRank, groupStride, rowStride, tile);
}
