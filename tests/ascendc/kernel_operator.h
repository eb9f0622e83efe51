// A stand-in for the part of the Ascend C API that mindeval's kernels use, so that they run and are checked on any machine.
// Written from the public documentation's rules; it contains no CANN code and models no timing. A kernel that breaks a rule
// stops with a Violation that names it:
//
//   memory       the unified buffer's size (less what Select reserves), whole 32-byte units, addresses aligned to 32 bytes,
//                accesses inside their tensor and inside the arrays in global memory, no reading of bytes that nobody wrote;
//   units        what one unit (scalar, vector, MTE2, MTE3) wrote or still reads, another may touch only after a flag or a queue
//                has ordered them; two dependent instructions of one unit need a PipeBarrier; flags come in pairs;
//   queues       AllocTensor, EnQue, DeQue, FreeTensor in this order, no more tensors than buffers, none left over;
//   instructions counts that are whole vectors where the instruction demands it, work space large enough, sizes of transfers;
//   cores        no two writes to the same byte of global memory.
//
// The model is stricter than the hardware may be: that the scalar unit issues the instructions one after the other orders nothing.
// The units are ordered as vector clocks order processes: every instruction of a unit has a number, every unit knows up to
// which number it has waited for each other unit, and each 32-byte unit of memory remembers who touched it last.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#define __aicore__
#define __global__
#define __gm__
using GM_ADDR = uint8_t *;
using event_t = int;

struct half {
  half() = default;
  explicit half(int) : bits(0) {}  // the kernels only ever write 0
  operator float() const {
    _Float16 value;
    std::memcpy(&value, &bits, sizeof value);
    return static_cast<float>(value);
  }
  uint16_t bits;
};

struct bfloat16_t {
  bfloat16_t() = default;
  explicit bfloat16_t(int) : bits(0) {}
  operator float() const {
    const uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &wide, sizeof value);
    return value;
  }
  uint16_t bits;
};

enum pipe_t { PIPE_S, PIPE_V, PIPE_MTE2, PIPE_MTE3 };

namespace stand_in {

constexpr int kPipes = 4;
constexpr size_t kUnit = 32;
constexpr size_t kUnifiedBuffer = 192 * 1024;
constexpr size_t kReservedForSelect = 8 * 1024;
constexpr uint8_t kPoison = 0x7f;  // a NaN in bfloat16 and float16 pairs, a huge number in float32: garbage shows

struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void Require(bool holds, const std::string &rule) {
  if (!holds) throw Violation(rule);
}

inline std::string PipeName(int pipe) {
  const char *const names[kPipes] = {"scalar", "vector", "MTE2", "MTE3"};
  return names[pipe];
}

using Clock = std::vector<uint64_t>;  // per unit: all its instructions up to this number are known to have finished

inline void Join(Clock &clock, const Clock &other) {
  for (int pipe = 0; pipe < kPipes; ++pipe) clock[pipe] = std::max(clock[pipe], other[pipe]);
}

struct GlobalArray {
  uint8_t *begin;
  size_t bytes;
  bool writable;
  std::vector<bool> written;
};

// The life of one buffer of a queue.
struct QueueBuffer {
  enum State { kFree, kAllocated, kQueued, kTaken } state = kFree;
  size_t offset = 0;
  Clock released = Clock(kPipes, 0);
  Clock filled = Clock(kPipes, 0);
};

class Core {
 public:
  uint8_t *memory() { return memory_.data(); }

  size_t Reserve(size_t bytes) {
    Require(bytes > 0 && bytes % kUnit == 0, "buffer of " + std::to_string(bytes) + " bytes is not a whole number of 32-byte units");
    Require(used_ + bytes <= kUnifiedBuffer - kReservedForSelect,
            "unified buffer overflow: " + std::to_string(used_ + bytes) + " bytes asked for, " +
                std::to_string(kUnifiedBuffer - kReservedForSelect) + " available");
    used_ += bytes;
    return used_ - bytes;
  }

  void Issue(int pipe) {
    ++issued_[pipe];
    if (pipe == PIPE_S) known_[PIPE_S][PIPE_S] = issued_[PIPE_S];  // the scalar unit finishes one instruction before the next
  }

  void Read(int pipe, size_t begin, size_t bytes) {
    for (size_t i = begin; i < begin + bytes; ++i) Require(defined_[i], "read of bytes that nobody wrote");
    ForUnits(begin, bytes, [&](Unit &unit) {
      Ordered(pipe, unit.writer, unit.write);
      unit.reads[pipe] = issued_[pipe];
    });
  }

  void Write(int pipe, size_t begin, size_t bytes, bool defined = true) {
    ForUnits(begin, bytes, [&](Unit &unit) {
      Ordered(pipe, unit.writer, unit.write);
      for (int reader = 0; reader < kPipes; ++reader) Ordered(pipe, reader, unit.reads[reader]);
      unit.writer = pipe;
      unit.write = issued_[pipe];
    });
    std::fill(defined_.begin() + begin, defined_.begin() + begin + bytes, defined);
    if (!defined) std::memset(memory_.data() + begin, kPoison, bytes);
  }

  void Forget(size_t begin, size_t bytes) {  // a fresh tensor: its contents are undefined
    std::fill(defined_.begin() + begin, defined_.begin() + begin + bytes, false);
    std::memset(memory_.data() + begin, kPoison, bytes);
  }

  void Barrier(int pipe) {
    Require(pipe != PIPE_S, "PipeBarrier on the scalar unit");
    known_[pipe][pipe] = issued_[pipe];
  }

  Clock Finished(int pipe) const {
    Clock clock = known_[pipe];
    clock[pipe] = issued_[pipe];
    return clock;
  }
  void Learn(int pipe, const Clock &clock) { Join(known_[pipe], clock); }

  void SetFlag(int from, int to, int id) {
    Require(id >= 0 && id < 8, "event id out of range");
    Require(!flags_.count({{from, to}, id}), "flag set twice without a wait between");
    flags_[{{from, to}, id}] = Finished(from);
  }
  void WaitFlag(int from, int to, int id) {
    const auto flag = flags_.find({{from, to}, id});
    Require(flag != flags_.end(), "wait for a flag that was not set: the core would hang");
    Learn(to, flag->second);
    flags_.erase(flag);
  }

  void CheckEnd() const {
    Require(flags_.empty(), "flag set but never waited for");
    for (const QueueBuffer &buffer : buffers_) Require(buffer.state == QueueBuffer::kFree, "tensor never freed");
  }
  QueueBuffer *NewQueueBuffer(size_t bytes) {
    buffers_.emplace_back();
    buffers_.back().offset = Reserve(bytes);
    return &buffers_.back();
  }

 private:
  struct Unit {
    int writer = PIPE_S;
    uint64_t write = 0;
    uint64_t reads[kPipes] = {0, 0, 0, 0};
  };

  template <typename F>
  void ForUnits(size_t begin, size_t bytes, F visit) {
    if (bytes == 0) return;
    for (size_t unit = begin / kUnit; unit <= (begin + bytes - 1) / kUnit; ++unit) visit(units_[unit]);
  }

  void Ordered(int pipe, int earlier, uint64_t number) const {
    if (number == 0 || known_[pipe][earlier] >= number || (pipe == earlier && number == issued_[pipe])) return;
    if (pipe == earlier) throw Violation("dependent " + PipeName(pipe) + " instructions without a PipeBarrier");
    throw Violation(PipeName(pipe) + " unit does not wait for the " + PipeName(earlier) + " unit");
  }

  std::vector<uint8_t> memory_ = std::vector<uint8_t>(kUnifiedBuffer, kPoison);
  std::vector<uint8_t> defined_ = std::vector<uint8_t>(kUnifiedBuffer, 0);
  std::vector<Unit> units_ = std::vector<Unit>(kUnifiedBuffer / kUnit);
  std::vector<Clock> known_ = std::vector<Clock>(kPipes, Clock(kPipes, 0));
  Clock issued_ = Clock(kPipes, 0);
  std::map<std::pair<std::pair<int, int>, int>, Clock> flags_;
  std::deque<QueueBuffer> buffers_;
  size_t used_ = 0;
};

// What the machine looks like to the kernel that runs now.
inline Core *core = nullptr;
inline int64_t core_index = 0;
inline int64_t core_count = 1;
inline std::vector<GlobalArray> global_arrays;

inline GlobalArray &ArrayOf(const uint8_t *begin, size_t bytes, const char *access) {
  for (GlobalArray &array : global_arrays) {
    if (begin >= array.begin && begin + bytes <= array.begin + array.bytes) return array;
  }
  throw Violation(std::string("global memory ") + access + " out of range");
}

}  // namespace stand_in

namespace AscendC {

using stand_in::Require;

enum class QuePosition { VECIN, VECOUT, VECCALC };
enum class HardEvent { V_S, S_V, MTE2_V, V_MTE2, MTE2_S, S_MTE2, V_MTE3, MTE3_V, MTE3_S, S_MTE3, MTE2_MTE3, MTE3_MTE2 };
enum class RoundMode { CAST_NONE };
enum class CMPMODE { LT, GT, EQ, LE, GE, NE };
enum class SELMODE { VSEL_CMPMASK_SPR, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };

constexpr int From(HardEvent event) {
  switch (event) {
    case HardEvent::V_S: case HardEvent::V_MTE2: case HardEvent::V_MTE3: return PIPE_V;
    case HardEvent::S_V: case HardEvent::S_MTE2: case HardEvent::S_MTE3: return PIPE_S;
    case HardEvent::MTE2_V: case HardEvent::MTE2_S: case HardEvent::MTE2_MTE3: return PIPE_MTE2;
    default: return PIPE_MTE3;
  }
}
constexpr int To(HardEvent event) {
  switch (event) {
    case HardEvent::V_S: case HardEvent::MTE2_S: case HardEvent::MTE3_S: return PIPE_S;
    case HardEvent::S_V: case HardEvent::MTE2_V: case HardEvent::MTE3_V: return PIPE_V;
    case HardEvent::V_MTE2: case HardEvent::S_MTE2: case HardEvent::MTE3_MTE2: return PIPE_MTE2;
    default: return PIPE_MTE3;
  }
}

struct DataCopyExtParams {
  uint16_t blockCount;
  uint32_t blockLen, srcStride, dstStride, rsv;
};
template <typename T>
struct DataCopyPadExtParams {
  bool isPad;
  uint8_t leftPadding, rightPadding;
  T paddingValue;
};

inline int64_t GetBlockIdx() { return stand_in::core_index; }
inline int64_t GetBlockNum() { return stand_in::core_count; }

// ---- tensors ----------------------------------------------------------------------------------------------------------

template <typename T>
class GlobalTensor {
 public:
  void SetGlobalBuffer(T *begin, uint64_t count) { begin_ = begin, count_ = count; }
  GlobalTensor operator[](uint64_t offset) const {
    Require(offset < count_, "global tensor offset out of range");
    GlobalTensor tensor;
    tensor.SetGlobalBuffer(begin_ + offset, count_ - offset);
    return tensor;
  }
  uint8_t *Bytes() const { return reinterpret_cast<uint8_t *>(begin_); }

 private:
  T *begin_ = nullptr;
  uint64_t count_ = 0;
};

template <typename T>
class LocalTensor {
 public:
  LocalTensor() = default;
  LocalTensor(size_t offset, size_t count, stand_in::QueueBuffer *buffer) : offset_(offset), count_(count), buffer_(buffer) {}

  LocalTensor operator[](uint32_t elements) const {
    Require(elements < count_, "unified buffer offset out of range");
    return LocalTensor(offset_ + elements * sizeof(T), count_ - elements, buffer_);
  }
  T GetValue(uint32_t index) const {
    stand_in::core->Issue(PIPE_S);
    stand_in::core->Read(PIPE_S, At(index, 1), sizeof(T));
    return Data()[index];
  }
  void SetValue(uint32_t index, T value) const {
    stand_in::core->Issue(PIPE_S);
    stand_in::core->Write(PIPE_S, At(index, 1), sizeof(T));
    Data()[index] = value;
  }

  // For the instructions below: checked access to the first `count` elements by a unit.
  const T *Reading(int pipe, size_t count, size_t alignment = stand_in::kUnit) const {
    Aligned(alignment);
    stand_in::core->Read(pipe, At(0, count), count * sizeof(T));
    return Data();
  }
  T *Writing(int pipe, size_t count, bool defined = true, size_t alignment = stand_in::kUnit) const {
    Aligned(alignment);
    stand_in::core->Write(pipe, At(0, count), count * sizeof(T), defined);
    return Data();
  }
  size_t count() const { return count_; }
  size_t offset() const { return offset_; }
  stand_in::QueueBuffer *buffer() const { return buffer_; }

 private:
  T *Data() const { return reinterpret_cast<T *>(stand_in::core->memory() + offset_); }
  size_t At(size_t index, size_t count) const {
    Require(index + count <= count_, "unified buffer access out of range");
    if (buffer_) {
      Require(buffer_->state != stand_in::QueueBuffer::kFree, "tensor used after FreeTensor");
      Require(buffer_->state != stand_in::QueueBuffer::kQueued, "tensor used between EnQue and DeQue");
    }
    return offset_ + index * sizeof(T);
  }
  void Aligned(size_t alignment) const {
    Require(offset_ % alignment == 0, "address is not aligned to " + std::to_string(alignment) + " bytes");
  }

  size_t offset_ = 0;
  size_t count_ = 0;
  stand_in::QueueBuffer *buffer_ = nullptr;
};

// ---- buffers, queues and flags ------------------------------------------------------------------------------------------

template <QuePosition position, int depth>
class TQue {
  static_assert(position != QuePosition::VECCALC, "queues move data in or out");
  static constexpr int kFiller = position == QuePosition::VECIN ? PIPE_MTE2 : PIPE_V;
  static constexpr int kUser = position == QuePosition::VECIN ? PIPE_V : PIPE_MTE3;

 public:
  void Place(int buffers, size_t bytes) {
    bytes_ = bytes;
    for (int i = 0; i < buffers; ++i) buffers_.push_back(stand_in::core->NewQueueBuffer(bytes));
  }
  template <typename T>
  LocalTensor<T> AllocTensor() {
    for (stand_in::QueueBuffer *buffer : buffers_) {
      if (buffer->state != stand_in::QueueBuffer::kFree) continue;
      buffer->state = stand_in::QueueBuffer::kAllocated;
      stand_in::core->Learn(kFiller, buffer->released);
      stand_in::core->Forget(buffer->offset, bytes_);
      return LocalTensor<T>(buffer->offset, bytes_ / sizeof(T), buffer);
    }
    throw stand_in::Violation("AllocTensor without a free buffer: a FreeTensor is missing");
  }
  template <typename T>
  void EnQue(const LocalTensor<T> &tensor) {
    stand_in::QueueBuffer *buffer = tensor.buffer();
    Require(buffer && buffer->state == stand_in::QueueBuffer::kAllocated, "EnQue of a tensor that was not allocated");
    Require(static_cast<int>(queued_.size()) < depth, "queue is deeper than declared");
    buffer->state = stand_in::QueueBuffer::kQueued;
    buffer->filled = stand_in::core->Finished(kFiller);
    queued_.push_back(buffer);
  }
  template <typename T>
  LocalTensor<T> DeQue() {
    Require(!queued_.empty(), "DeQue of an empty queue: the core would hang");
    stand_in::QueueBuffer *buffer = queued_.front();
    queued_.erase(queued_.begin());
    buffer->state = stand_in::QueueBuffer::kTaken;
    stand_in::core->Learn(kUser, buffer->filled);
    return LocalTensor<T>(buffer->offset, bytes_ / sizeof(T), buffer);
  }
  template <typename T>
  void FreeTensor(const LocalTensor<T> &tensor) {
    stand_in::QueueBuffer *buffer = tensor.buffer();
    Require(buffer && buffer->state == stand_in::QueueBuffer::kTaken, "FreeTensor of a tensor that was not taken from the queue");
    buffer->state = stand_in::QueueBuffer::kFree;
    buffer->released = stand_in::core->Finished(kUser);
  }

 private:
  size_t bytes_ = 0;
  std::vector<stand_in::QueueBuffer *> buffers_;
  std::vector<stand_in::QueueBuffer *> queued_;
};

template <QuePosition position>
class TBuf {
 public:
  void Place(size_t bytes) { offset_ = stand_in::core->Reserve(bytes), bytes_ = bytes; }
  template <typename T>
  LocalTensor<T> Get() const {
    return LocalTensor<T>(offset_, bytes_ / sizeof(T), nullptr);
  }

 private:
  size_t offset_ = 0;
  size_t bytes_ = 0;
};

class TPipe {
 public:
  template <QuePosition position, int depth>
  void InitBuffer(TQue<position, depth> &queue, int buffers, size_t bytes) {
    queue.Place(buffers, bytes);
  }
  template <QuePosition position>
  void InitBuffer(TBuf<position> &buffer, size_t bytes) {
    buffer.Place(bytes);
  }
  int FetchEventID(HardEvent) { return 0; }
};

inline TPipe *GetTPipePtr() {
  static TPipe pipe;  // the model keeps nothing in it
  return &pipe;
}

template <HardEvent event>
void SetFlag(event_t id) {
  stand_in::core->SetFlag(From(event), To(event), id);
}
template <HardEvent event>
void WaitFlag(event_t id) {
  stand_in::core->WaitFlag(From(event), To(event), id);
}
template <pipe_t pipe>
void PipeBarrier() {
  stand_in::core->Barrier(pipe);
}

// ---- transfers ----------------------------------------------------------------------------------------------------------

inline void CheckTransfer(const DataCopyExtParams &size) {
  Require(size.blockCount == 1, "the stand-in moves one block at a time");
  Require(size.blockLen >= 1 && size.blockLen < (1u << 21), "transfer of " + std::to_string(size.blockLen) + " bytes");
}

template <typename T>
void DataCopyPad(const LocalTensor<T> &to, const GlobalTensor<T> &from, const DataCopyExtParams &size,
                 const DataCopyPadExtParams<T> &padding) {
  CheckTransfer(size);
  Require(!padding.isPad || padding.leftPadding == 0, "the stand-in pads on the right only");
  const size_t moved = size.blockLen / sizeof(T);
  const size_t padded = padding.isPad ? moved + padding.rightPadding : moved;
  Require((padded - moved) * sizeof(T) <= stand_in::kUnit, "more than 32 bytes of padding");
  const size_t whole = (padded * sizeof(T) + stand_in::kUnit - 1) / stand_in::kUnit * stand_in::kUnit / sizeof(T);
  stand_in::ArrayOf(from.Bytes(), size.blockLen, "read");
  stand_in::core->Issue(PIPE_MTE2);
  to.Writing(PIPE_MTE2, whole, false);  // what the padding does not define stays undefined
  T *data = to.Writing(PIPE_MTE2, padded);
  std::memcpy(static_cast<void *>(data), from.Bytes(), size.blockLen);
  for (size_t i = moved; i < padded; ++i) data[i] = padding.paddingValue;
}

template <typename T>
void DataCopyPad(const GlobalTensor<T> &to, const LocalTensor<T> &from, const DataCopyExtParams &size) {
  CheckTransfer(size);
  stand_in::GlobalArray &array = stand_in::ArrayOf(to.Bytes(), size.blockLen, "write");
  Require(array.writable, "write to an input");
  stand_in::core->Issue(PIPE_MTE3);
  const T *data = from.Reading(PIPE_MTE3, size.blockLen / sizeof(T));
  for (size_t i = 0; i < size.blockLen; ++i) {
    const size_t at = to.Bytes() + i - array.begin;
    Require(!array.written[at], "global memory written twice");
    array.written[at] = true;
  }
  std::memcpy(to.Bytes(), data, size.blockLen);
}

// ---- vector arithmetic ----------------------------------------------------------------------------------------------------

template <typename F>
void Map(const LocalTensor<float> &to, const LocalTensor<float> &from, int count, F function) {
  stand_in::core->Issue(PIPE_V);
  const float *source = from.Reading(PIPE_V, count);
  float *target = to.Writing(PIPE_V, count);
  for (int i = 0; i < count; ++i) target[i] = function(source[i]);
}
inline void Adds(const LocalTensor<float> &to, const LocalTensor<float> &from, float scalar, int count) {
  Map(to, from, count, [scalar](float x) { return x + scalar; });
}
inline void Exp(const LocalTensor<float> &to, const LocalTensor<float> &from, int count) {
  Map(to, from, count, [](float x) { return std::exp(x); });
}
inline void Duplicate(const LocalTensor<float> &to, float scalar, int count) {
  stand_in::core->Issue(PIPE_V);
  float *target = to.Writing(PIPE_V, count);
  for (int i = 0; i < count; ++i) target[i] = scalar;
}
template <typename T>
void Cast(const LocalTensor<float> &to, const LocalTensor<T> &from, RoundMode, int count) {
  static_assert(!std::is_same<T, float>::value, "float32 to float32 is no cast");
  stand_in::core->Issue(PIPE_V);
  const T *source = from.Reading(PIPE_V, count);
  float *target = to.Writing(PIPE_V, count);
  for (int i = 0; i < count; ++i) target[i] = static_cast<float>(source[i]);
}

inline void CompareScalar(const LocalTensor<uint8_t> &bits, const LocalTensor<float> &from, float scalar, CMPMODE mode,
                          uint32_t count) {
  Require(count > 0 && count * sizeof(float) % 256 == 0, "CompareScalar of values that are not whole 256-byte vectors");
  stand_in::core->Issue(PIPE_V);
  const float *source = from.Reading(PIPE_V, count);
  uint8_t *target = bits.Writing(PIPE_V, count / 8);
  std::memset(target, 0, count / 8);
  for (uint32_t i = 0; i < count; ++i) {
    const float x = source[i];
    const bool holds = mode == CMPMODE::LT   ? x < scalar
                       : mode == CMPMODE::GT ? x > scalar
                       : mode == CMPMODE::EQ ? x == scalar
                       : mode == CMPMODE::LE ? x <= scalar
                       : mode == CMPMODE::GE ? x >= scalar
                                             : x != scalar;
    target[i / 8] |= static_cast<uint8_t>(holds) << (i % 8);
  }
}

inline void Select(const LocalTensor<float> &to, const LocalTensor<uint8_t> &bits, const LocalTensor<float> &where, float otherwise,
                   SELMODE mode, uint32_t count) {
  Require(mode == SELMODE::VSEL_TENSOR_SCALAR_MODE, "Select of a tensor or a scalar needs VSEL_TENSOR_SCALAR_MODE");
  stand_in::core->Issue(PIPE_V);
  const uint8_t *chosen = bits.Reading(PIPE_V, (count + 7) / 8);
  const float *source = where.Reading(PIPE_V, count);
  float *target = to.Writing(PIPE_V, count);
  for (uint32_t i = 0; i < count; ++i) target[i] = chosen[i / 8] >> (i % 8) & 1 ? source[i] : otherwise;
}

// Groups of 64 values first, then groups of 64 results, and so on; the intermediate results go through the work space.
template <typename F>
void Reduce(const LocalTensor<float> &to, const LocalTensor<float> &from, const LocalTensor<float> &work, int count,
            int floatsPerGroup, F merge) {
  Require(count > 0, "reduction of nothing");
  const int groups = (count + 63) / 64;
  const int needed = (groups * floatsPerGroup + 7) / 8 * 8;
  Require(static_cast<int>(work.count()) >= needed, "work space of a reduction is too small");
  stand_in::core->Issue(PIPE_V);
  const float *source = from.Reading(PIPE_V, count);
  std::vector<float> level(source, source + count);
  while (level.size() > 1) {
    std::vector<float> next;
    for (size_t begin = 0; begin < level.size(); begin += 64) {
      float value = level[begin];
      for (size_t i = begin + 1; i < std::min(begin + 64, level.size()); ++i) value = merge(value, level[i]);
      next.push_back(value);
    }
    level.swap(next);
  }
  work.Writing(PIPE_V, needed, false);
  to.Writing(PIPE_V, 2, false, 8);  // a value and an index: eight bytes
  *to.Writing(PIPE_V, 1, true, 8) = level[0];
}
inline void ReduceMax(const LocalTensor<float> &to, const LocalTensor<float> &from, const LocalTensor<float> &work, int count) {
  Reduce(to, from, work, count, 2, [](float a, float b) { return b > a ? b : a; });
}
inline void ReduceSum(const LocalTensor<float> &to, const LocalTensor<float> &from, const LocalTensor<float> &work, int count) {
  Reduce(to, from, work, count, 1, [](float a, float b) { return a + b; });
}

}  // namespace AscendC
