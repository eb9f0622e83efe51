// Negative log-likelihood, rank and entropy of a row of logits, in one read of memory.
//
// This file is compiled once for each register width (NLL_WIDTH floats) into the function NLL_ENTRY.
//
// THE TASK.  For a row x of V logits and its label y:   nll = log(sum of exp(x)) - x[y].
// Memory delivers about 9 logits per nanosecond and core, so only some 20 instructions may be spent on 16 logits.
//
// EXP.  exp(x) = 2^(n/8) * exp(r),  n = round(8 x / ln 2),  r = x - n ln2/8,  |r| <= 0.0434.
//   * 2^(n/8): the three low bits of n pick one of eight table entries (one permute), the others are added to the
//     float's exponent field.  The entries carry a common factor lambda, whose logarithm is subtracted at the end;
//     it is chosen so that all eight products round to floats within 2.8e-9, and so that it centres the next error.
//   * exp(r) - 1 is a cubic (error 1.9e-8), so that exp(x) = s + s * cubic has one rounding that matters.
//
// WINDOW INSTEAD OF MAXIMUM.  The usual way needs the row's maximum first: a second read.  Here a row is scaled by
// 2^(-eighths/8), where eighths/8 is log2 of exp(the maximum of the first 128 logits), roughly.  The scale enters only
// through integers: it is part of the constant `magic` that rounds to n, so x is never rounded by a subtraction.
// t = x * (8/ln 2) * 2^-22 + magic  has the bits  0x40000000 + u,  u = n - eighths + 512.  While 0 <= u < 1024 (x
// within 44 nats of the reference) all is well; otherwise, for NaN and infinities too, other bits show up.  So the OR
// of all t tells whether a chunk was good, at the cost of one instruction for 16 logits.  If it was not, the chunk,
// which is still in the first-level cache, is added again with low logits raised to the window's lower end (what
// they add is < 1e-13 of the sum); if a logit is above the window, the row is done again with its true maximum.
//
// SUM.  There are 16 logical lanes at every register width.  Eight vectors of 16 logits are added as a tree in float,
// and that sum to 16 double lanes.  A logit that holds a large part of the row's sum would suffer from the three
// roundings of the tree: a chunk in which one lane got more than a quarter of the sum so far is added again in double.
//
// SAME BITS EVERYWHERE.  Only additions, multiplications, divisions, comparisons and integer operations that IEEE 754
// and the language define are used, in an order that depends on nothing but V and the row: no fused multiply-add
// (compile with -ffp-contract=off), no libm.  The NumPy twin (mindeval/kernels/numpy_twin.py) does the same ones.
//
// docs/kernels.md has the error bound.

#include "nll_includes.h"

namespace mindeval {
namespace {

// ---- vectors -------------------------------------------------------------------------------------------------------

constexpr int W = NLL_WIDTH;
constexpr int kLanes = 16;                  // logical lanes; a lane is in register lane / W
constexpr int kGroups = kLanes / W;         // registers that make up one vector of 16 lanes
constexpr int kUnrolledGroups = W == 4 ? 1 : kGroups;   // 4 would be all code and no gain
constexpr int kTree = 8;                    // vectors of 16 that are added in float
constexpr int kBlock = kLanes * kTree;      // 128 logits: the unit in which a row is read
constexpr int kChunk = 2048;                // logits between two looks at the window; fits the first-level cache
constexpr int kPrefetchBytes = 8192;        // the hardware's own prefetch stops at each 4 KiB page

typedef float Floats __attribute__((vector_size(4 * W)));
typedef int32_t Ints __attribute__((vector_size(4 * W)));
typedef uint32_t Words __attribute__((vector_size(4 * W)));
typedef double Doubles __attribute__((vector_size(8 * W)));
typedef int64_t Longs __attribute__((vector_size(8 * W)));
typedef float FloatsInMemory __attribute__((vector_size(4 * W), aligned(4), may_alias));
typedef uint32_t WordsInMemory __attribute__((vector_size(4 * W), aligned(2), may_alias));
typedef int16_t Shorts __attribute__((vector_size(4 * W)));

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NEVER_INLINE __attribute__((noinline))

// ---- constants of exp ----------------------------------------------------------------------------------------------

constexpr int kWindow = 1024, kCentre = 512;                     // in eighths of an octave: 64 octaves down, 64 up
constexpr int32_t kWindowBits = 0x40000000;                      // of a float t in [2, 2 + 1024 ulp): in the window
constexpr float kUnit = 0x1p-22f;                                // ulp of t in [2, 4)
constexpr float kEighths = 0x1.715476p+3f * kUnit;               // 8 / ln 2
constexpr float kStepHigh = 0x1.62ep-4f / kUnit;                 // ln2 / 8 = high + low; n * high is exact
constexpr float kStepLow = 0x1.0bfbe8p-18f / kUnit;
constexpr double kStep = 0x1.62e42fefa39efp-4;                   // ln2 / 8
constexpr double kLogLambda = 0x1.586353a557428p-4;
constexpr float kC2 = 0x1.000a42p-1f, kC3 = 0x1.555d8ap-3f;      // exp(r) - 1 = r + r^2 (kC2 + kC3 r)
// The same cubic for r in units of ln2/8 * kUnit, which saves the 16-bit formats one product.
constexpr float kD1 = 0x1.62e430p-4f / kUnit, kD2 = 0x1.ec0f96p-9f / (kUnit * kUnit);
constexpr float kD3 = 0x1.c6bb7cp-14f / (kUnit * kUnit * kUnit);

// Bits of the float lambda * 2^(j/8), less those that (bits of t) << 20 brings along for u = kCentre + j.
constexpr int32_t entry(uint32_t bits, int j) {
  return static_cast<int32_t>(bits - (static_cast<uint32_t>(kCentre / 8) << 23) - (static_cast<uint32_t>(j) << 20));
}
#define EIGHT_ENTRIES                                                                           \
  entry(0x3f8b3a3eu, 0), entry(0x3f97d424u, 1), entry(0x3fa59202u, 2), entry(0x3fb48e45u, 3), \
      entry(0x3fc4e5beu, 4), entry(0x3fd6b7dau, 5), entry(0x3fea26deu, 6), entry(0x3fff5829u, 7)
alignas(64) const int32_t kTable[16] = {EIGHT_ENTRIES, EIGHT_ENTRIES};   // twice: a permute of 16 lanes wants 16

// ---- formats of logits ---------------------------------------------------------------------------------------------
// load<plain>(p, v, g): register g of vector v of the block at p, as floats times 2^-kDownBits.  `plain` means true
// values.  kHalf: the format has so few bits that x * kHigh is exact; kHigh + kLow = 8 / ln 2 * kUnit.

struct Float32 {
  typedef float Stored;
  static constexpr bool kHalf = false;
  static constexpr float kUp = 1, kLargest = 160, kHigh = 1, kLow = 0;
  static float value(Stored x) { return x; }
  static Stored minus_infinity() { return -INFINITY; }
  template <bool plain>
  static ALWAYS_INLINE Floats load(const Stored* p, int v, int g) {
    return *reinterpret_cast<const FloatsInMemory*>(p + kLanes * v + W * g);
  }
};

// Of 32 adjacent 16-bit logits the even ones are one vector and the odd ones the next.
ALWAYS_INLINE Words load_pairs(const uint16_t* p, int v, int g) {
  return *reinterpret_cast<const WordsInMemory*>(p + kLanes * (v & ~1) + 2 * W * g);
}

struct BFloat16 {
  typedef uint16_t Stored;
  static constexpr bool kHalf = true;
  static constexpr float kUp = 1, kLargest = 160;
  static constexpr float kHigh = 0x1.7154p+3f * kUnit, kLow = 0x1.d94ae0p-15f * kUnit;   // 15 bits, and the rest
  static float value(Stored x) {
    const uint32_t bits = static_cast<uint32_t>(x) << 16;
    float y;
    std::memcpy(&y, &bits, 4);
    return y;
  }
  static Stored minus_infinity() { return 0xff80; }
  template <bool plain>
  static ALWAYS_INLINE Floats load(const Stored* p, int v, int g) {
    const Words pairs = load_pairs(p, v, g);
    return reinterpret_cast<Floats>(v & 1 ? pairs & 0xffff0000u : pairs << 16);
  }
};

// A float16 whose bits are moved to a float's fields is x * 2^-112, exactly, subnormals included.  There an infinity
// or NaN looks like a number of at least 65536, which is outside the window.
struct Float16 {
  typedef uint16_t Stored;
  static constexpr bool kHalf = true;
  static constexpr float kUp = 0x1p112f, kLargest = 128;
  static constexpr float kHigh = 0x1.715p+3f * kUnit, kLow = 0x1.1d94aep-11f * kUnit;    // 13 bits, and the rest
  template <bool plain, class F, class I>
  static ALWAYS_INLINE F convert(I high_halves) {
    const I moved = (high_halves >> 3) & static_cast<int32_t>(0x8fffe000);
    if (!plain) return (F)moved;
    const I special = (I)((moved & 0x0f800000) == 0x0f800000) & 0x7f800000;
    return (F)((I)((F)moved * kUp) | special);
  }
  static float value(Stored x) {
    typedef int32_t I __attribute__((vector_size(16)));
    typedef float F __attribute__((vector_size(16)));
    return convert<true, F, I>(I{} + static_cast<int32_t>(static_cast<uint32_t>(x) << 16))[0];
  }
  static Stored minus_infinity() { return 0xfc00; }
  template <bool plain>
  static ALWAYS_INLINE Floats load(const Stored* p, int v, int g) {
    const Words pairs = load_pairs(p, v, g);
    return convert<plain, Floats, Ints>(reinterpret_cast<Ints>(v & 1 ? pairs : pairs << 16));
  }
};

// ---- exp -----------------------------------------------------------------------------------------------------------

// lambda * 2^(u/8 - 64), from the bits of t: (t << 20) + kTable[t & 7], read as a float.
ALWAYS_INLINE Floats scaled_power(Ints t) {
#if NLL_WIDTH >= 8 && !defined(__clang__)
  return (Floats)((t << 20) + __builtin_shuffle(*reinterpret_cast<const Ints*>(kTable), t));
#else
  Ints entries;                             // SSE2 has no permute by a variable
  for (int k = 0; k < W; k++) entries[k] = kTable[t[k] & 7];
  return (Floats)((t << 20) + entries);
#endif
}

// lambda * 2^((512 - eighths) / 8 - 64) * exp(x).  t: shows whether x was in the window.  logit: x for the entropy
// (times Format::kHigh for 16-bit formats).
template <class Format, bool plain>
ALWAYS_INLINE Floats scaled_exp(Floats x, float magic, Ints& t, Floats& logit) {
  constexpr float up = plain ? 1 : Format::kUp;
  if (Format::kHalf) {
    logit = x * (Format::kHigh * up);                            // exact
    const Floats rounded = logit + magic, n = rounded - magic;
    t = (Ints)rounded;
    const Floats s = scaled_power(t);
    const Floats r = (logit - n) + x * (Format::kLow * up);
    const Floats q = ((r * kD3 + kD2) * r + kD1) * r;
    return s + s * q;
  }
  logit = x;
  const Floats rounded = x * kEighths + magic, n = rounded - magic;
  t = (Ints)rounded;
  const Floats s = scaled_power(t);
  const Floats r = (x - n * kStepHigh) - n * kStepLow;
  const Floats q = (r * r) * (r * kC3 + kC2) + r;
  return s + s * q;
}

// ---- a chunk of a row ----------------------------------------------------------------------------------------------

struct Sums {
  Doubles exps[kGroups];                    // sum of exp(x)
  Doubles weighted[kGroups];                // sum of exp(x) * (x - reference), for the entropy
};

struct Frame {                              // the scale of a row
  float reference;                          // about the largest logit; 0 when `shift` is used
  float shift;                              // 0, or the row's maximum where logits are so large that x - shift is exact
  int eighths;                              // the window's centre, in units of ln2/8
  float magic;
  float lowest;                             // logits below this are raised to it in a clamped chunk
};

// Adds eight vectors to a double lane: as a tree in float, or one after the other in double.
template <bool precise>
ALWAYS_INLINE void add_eight(Doubles& sum, const Floats* v) {
  if (precise) {
    for (int k = 0; k < kTree; k++) sum += __builtin_convertvector(v[k], Doubles);
  } else {
    const Floats tree = ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
    sum += __builtin_convertvector(tree, Doubles);
  }
}

ALWAYS_INLINE bool one_lane_dominates(const Sums& before, const Sums& after) {
  double total = 0;
  for (int k = 0; k < kLanes; k++) total += after.exps[k / W][k % W];
  const Doubles quarter = Doubles{} + total * 0.25;
  Longs larger{};
  for (int g = 0; g < kGroups; g++) larger |= (Longs)(after.exps[g] - before.exps[g] > quarter);
  int64_t any = 0;
  for (int k = 0; k < W; k++) any |= larger[k];
  return any != 0;
}

enum Outcome { kAdded, kLeftWindow, kOneLaneDominates };

// Adds `n` logits (a multiple of 128) to `sums`, and to `above` the number of them that exceed `threshold`.
// clamped: shift and clamp first (see Frame), and do not count.  precise: sum in double throughout.
// Unless the outcome is kAdded nothing has been changed.
template <class Format, bool want_entropy, bool want_rank, bool clamped, bool precise>
ALWAYS_INLINE Outcome add_chunk_inline(const typename Format::Stored* logits, int64_t n, const Frame& frame,
                                       float threshold, Sums& sums, int64_t& above) {
  constexpr bool counting = want_rank && !clamped;
  constexpr int vectors_per_line = 4 / sizeof(*logits);          // vectors of 16 that one cache line of 64 bytes ends
  const float magic = frame.magic, shift = frame.shift, lowest = frame.lowest;
  const float reference = Format::kHalf ? frame.reference * Format::kHigh : frame.reference;
  threshold *= 1 / Format::kUp;
  Sums added = sums;
  Ints seen{}, counts{};
  for (int64_t b = 0; b < n; b += kBlock)
#pragma GCC unroll kUnrolledGroups
    for (int g = 0; g < kGroups; g++) {
      Floats exps[kTree], weighted[kTree];
      Ints t[kTree];
#pragma GCC unroll 8
      for (int v = 0; v < kTree; v++) {
        if (g == 0 && v % vectors_per_line == 0)
          __builtin_prefetch(reinterpret_cast<const char*>(logits + b + kLanes * v) + kPrefetchBytes, 0, 3);
        Floats x = Format::template load<clamped>(logits + b, v, g), logit;
        if (clamped) {
          x -= shift;
          const Floats floor = Floats{} + lowest;
          x = floor > x ? floor : x;                             // NaN stays NaN
        }
        if (counting) counts -= (Ints)(x > threshold);
        exps[v] = scaled_exp<Format, clamped>(x, magic, t[v], logit);
        if (want_entropy) weighted[v] = exps[v] * (logit - reference);
      }
      seen |= ((t[0] | t[1]) | (t[2] | t[3])) | ((t[4] | t[5]) | (t[6] | t[7]));
      add_eight<precise>(added.exps[g], exps);
      if (want_entropy) add_eight<precise>(added.weighted[g], weighted);
    }
  int32_t bits = 0;
  for (int k = 0; k < W; k++) bits |= seen[k];
  if ((bits & ~(kWindow - 1)) != kWindowBits) return kLeftWindow;
  if (!precise && one_lane_dominates(sums, added)) return kOneLaneDominates;
  sums = added;
  if (counting)
    for (int k = 0; k < W; k++) above += counts[k];
  return kAdded;
}

// The rare ways through a chunk are functions of their own, so that the common one is compiled tightly.
template <class Format, bool want_entropy, bool want_rank, bool clamped, bool precise>
NEVER_INLINE Outcome add_chunk(const typename Format::Stored* logits, int64_t n, const Frame& frame, float threshold,
                               Sums& sums, int64_t& above) {
  return add_chunk_inline<Format, want_entropy, want_rank, clamped, precise>(logits, n, frame, threshold, sums, above);
}

// The largest of n 16-bit logits (a multiple of 128); NaN if there is a NaN.  With the bits below a negative sign
// flipped they are ordered as integers, those of NaN outermost: no conversion, and twice the logits in a register.
template <class Format>
ALWAYS_INLINE float largest_half(const uint16_t* logits, int64_t n) {
  constexpr int per_register = 2 * W;
  constexpr int16_t magnitude = INT16_MAX, least = INT16_MIN;
  Shorts high = Shorts{} + least, low = Shorts{} + magnitude;
  for (int64_t b = 0; b < n; b += kBlock)
#pragma GCC unroll 4
    for (int k = 0; k < kBlock; k += per_register) {
      const Shorts bits = (Shorts)(Words)*reinterpret_cast<const WordsInMemory*>(logits + b + k);
      const Shorts ordered = bits ^ ((bits >> 15) & magnitude);
      high = ordered > high ? ordered : high;
      low = ordered < low ? ordered : low;
    }
  int16_t highest = least, lowest = magnitude;
  for (int k = 0; k < per_register; k++) {
    highest = high[k] > highest ? high[k] : highest;
    lowest = low[k] < lowest ? low[k] : lowest;
  }
  const int16_t infinity = static_cast<int16_t>(Format::minus_infinity() & magnitude);
  if (highest > infinity || lowest < ~infinity) return NAN;      // ~infinity is where -inf is
  return Format::value(static_cast<uint16_t>(highest < 0 ? highest ^ magnitude : highest));
}

// The largest of n logits (a multiple of 128); NaN if there is a NaN.
template <class Format>
NEVER_INLINE float largest(const typename Format::Stored* logits, int64_t n) {
  if constexpr (Format::kHalf) return largest_half<Format>(logits, n);
  Floats even = Floats{} - INFINITY, odd = even;
  Ints nans{};
  for (int64_t b = 0; b < n; b += kBlock)
#pragma GCC unroll kUnrolledGroups
    for (int g = 0; g < kGroups; g++)
#pragma GCC unroll 4
      for (int v = 0; v < kTree; v += 2) {
        const Floats x = Format::template load<true>(logits + b, v, g);
        const Floats y = Format::template load<true>(logits + b, v + 1, g);
        nans |= (Ints)(x != x) | (Ints)(y != y);
        even = x > even ? x : even;
        odd = y > odd ? y : odd;
      }
  float result = -INFINITY;
  int32_t any_nan = 0;
  for (int k = 0; k < W; k++) {
    result = even[k] > result ? even[k] : result;
    result = odd[k] > result ? odd[k] : result;
    any_nan |= nans[k];
  }
  return any_nan ? NAN : result;
}

// How many of n logits exceed y, or reach it.
template <class Format>
NEVER_INLINE int64_t count_above(const typename Format::Stored* logits, int64_t n, float y, bool or_equal) {
  Ints counts{};
  int64_t b = 0;
  for (; b + kBlock <= n; b += kBlock)
    for (int g = 0; g < kGroups; g++)
#pragma GCC unroll 8
      for (int v = 0; v < kTree; v++) {
        const Floats x = Format::template load<true>(logits + b, v, g);
        counts -= or_equal ? (Ints)(x >= y) : (Ints)(x > y);
      }
  int64_t result = 0;
  for (int k = 0; k < W; k++) result += counts[k];
  for (; b < n; b++) {
    const float x = Format::value(logits[b]);
    result += or_equal ? x >= y : x > y;
  }
  return result;
}

// ---- log: fixed sequences of IEEE operations, for finite x > 0 (the coefficients are fdlibm's) -----------------------

double log_of(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, 8);
  int k = static_cast<int>(bits >> 52) - 1023;
  bits = (bits & 0xfffffffffffffull) | 0x3ff0000000000000ull;
  double m;
  std::memcpy(&m, &bits, 8);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    k++;
  }
  const double f = m - 1.0, s = f / (2.0 + f), z = s * s, half_square = 0.5 * f * f;
  const double series =
      z * (6.666666666666735130e-01 +
           z * (3.999999999940941908e-01 +
                z * (2.857142874366239149e-01 +
                     z * (2.222219843214978396e-01 +
                          z * (1.818357216161805012e-01 +
                               z * (1.531383769920937332e-01 + z * 1.479819860511658591e-01))))));
  return k * 6.93147180369123816490e-01 - ((half_square - (s * (half_square + series) + k * 1.90821492927058770002e-10)) - f);
}

double log_of_one_plus(double x) {
  const double u = 1.0 + x;
  return u == 1.0 ? x : log_of(u) + (x - (u - 1.0)) / u;
}

// ---- a row ---------------------------------------------------------------------------------------------------------

template <class Format>
struct Row {
  typedef typename Format::Stored Stored;
  const Stored* logits;
  int64_t size, whole;                      // `whole`: the part in blocks of 128
  Stored tail[kBlock];                      // the rest, filled up with -inf

  Row(const Stored* p, int64_t vocab) : logits(p), size(vocab), whole(vocab / kBlock * kBlock) {
    for (int k = 0; k < kBlock; k++) tail[k] = whole + k < size ? p[whole + k] : Format::minus_infinity();
  }

  float first_maximum() const { return largest<Format>(whole ? logits : tail, kBlock); }

  float maximum() const {
    const float a = whole ? largest<Format>(logits, whole) : -INFINITY, b = largest<Format>(tail, kBlock);
    if (a != a || b != b) return NAN;
    return a > b ? a : b;
  }
};

Frame frame_around(float reference, float shift) {
  Frame frame;
  frame.reference = reference;
  frame.shift = shift;
  frame.eighths = 8 * static_cast<int>(std::floor(reference * 1.44269504f + 0.5f));
  frame.magic = 2.0f + (kCentre - frame.eighths) * kUnit;
  frame.lowest = static_cast<float>((frame.eighths - kCentre + 2) * kStep);
  return frame;
}

// Sums the row in this frame, and counts the logits above the label's (and equal ones before it).
// false: a logit lies above the window, or is NaN.  start_clamped: do not even try the common way.
template <class Format, bool want_entropy, bool want_rank>
ALWAYS_INLINE bool sum_row(const Row<Format>& row, int64_t label, float target, const Frame& frame, bool start_clamped,
                           Sums& sums, int64_t& rank) {
  const float just_below = std::nextafter(target * (1 / Format::kUp), -INFINITY) * Format::kUp;
  bool clamped = start_clamped;
  int64_t uncounted = 0;
  for (int64_t b = 0; b < row.size; b += kChunk) {
    const int64_t whole = row.whole - b < kChunk ? row.whole - b : kChunk;     // <= 0: only a tail is left
    const int64_t end = row.size - b < kChunk ? row.size : b + kChunk;
    const bool before_label = end <= label;                                    // equal logits count
    const auto* p = row.logits + b;
    if (whole > 0 && !clamped) {
      const float threshold = before_label ? just_below : target;
      const Outcome outcome = add_chunk_inline<Format, want_entropy, want_rank, false, false>(p, whole, frame, threshold, sums, rank);
      if (outcome == kOneLaneDominates)
        add_chunk<Format, want_entropy, want_rank, false, true>(p, whole, frame, threshold, sums, rank);
      clamped = outcome == kLeftWindow;
    }
    if (whole > 0 && clamped) {
      const Outcome outcome = add_chunk<Format, want_entropy, false, true, false>(p, whole, frame, 0, sums, uncounted);
      if (outcome == kLeftWindow) return false;
      if (outcome == kOneLaneDominates)
        add_chunk<Format, want_entropy, false, true, true>(p, whole, frame, 0, sums, uncounted);
      if (want_rank) rank += count_above<Format>(p, whole, target, before_label);
    }
    const int64_t tail = b + (whole > 0 ? whole : 0);
    if (tail < end) {
      if (add_chunk<Format, want_entropy, false, true, true>(row.tail, kBlock, frame, 0, sums, uncounted) == kLeftWindow)
        return false;
      if (want_rank) rank += count_above<Format>(row.logits + tail, end - tail, target, before_label);
    }
    if (want_rank && b <= label && !before_label)
      for (int64_t k = b; k < label; k++) rank += Format::value(row.logits[k]) == target;
  }
  return true;
}

template <class Format, bool want_entropy, bool want_rank>
ALWAYS_INLINE void score_row(const Request& request, int64_t r) {
  const int64_t label = request.labels[r], vocab = request.vocab;
  const Row<Format> row(static_cast<const typename Format::Stored*>(request.logits) + request.offsets[r], vocab);
  const float label_logit = request.targets ? request.targets[r] : Format::value(row.logits[label]);
  request.nll[r] = NAN;                                          // for NaN, +inf, or nothing but -inf in the row
  if (want_rank) request.rank[r] = -1;
  if (want_entropy) request.entropy[r] = NAN;

  float reference = row.first_maximum();
  for (int attempt = 0; attempt < 2; attempt++) {                // the second: the first block was no guide to the row
    float shift = 0;
    if (attempt == 1) {
      reference = row.maximum();
      if (reference == -INFINITY && request.targets) {           // this part of the vocabulary is masked
        request.nll[r] = -INFINITY;
        const int64_t before = label < 0 ? 0 : label < vocab ? label : vocab;
        if (want_rank) request.rank[r] = label_logit == -INFINITY ? before : 0;
        return;
      }
      if (!(std::fabs(reference) < INFINITY)) return;
      if (std::fabs(reference) > Format::kLargest) {
        shift = reference;
        reference = 0;
      }
    }
    if (!(std::fabs(reference) <= Format::kLargest)) continue;
    const Frame frame = frame_around(reference, shift);
    Sums sums{};
    int64_t rank = 0;
    if (!sum_row<Format, want_entropy, want_rank>(row, label, label_logit, frame, attempt == 1, sums, rank)) continue;

    double total = 0, weighted = 0;
    for (int k = 0; k < kLanes; k++) {
      total += sums.exps[k / W][k % W];
      if (want_entropy) weighted += sums.weighted[k / W][k % W];
    }
    const double target = static_cast<double>(label_logit) - static_cast<double>(shift);
    const double log_sum = (log_of(total) - kLogLambda) + frame.eighths * kStep;
    double nll = log_sum - target;
    if (target > frame.lowest && 0 <= label && label < vocab) {
      Ints t;
      Floats logit;
      const Floats x = Floats{} + static_cast<float>(target);
      const double own = scaled_exp<Format, true>(x, frame.magic, t, logit)[0];
      if (2 * own > total) nll = log_of_one_plus((total - own) / own);     // a likely label: exp's errors cancel, nll >= 0
    }
    request.nll[r] = nll;
    if (want_rank) request.rank[r] = rank;
    if (want_entropy) {
      const double mean = weighted / total * (Format::kHalf ? 1 / static_cast<double>(Format::kHigh) : 1);
      const double entropy = (log_sum - static_cast<double>(reference)) - mean;
      request.entropy[r] = entropy > 0 ? entropy : 0;
    }
    return;
  }
}

template <class Format, bool want_entropy, bool want_rank>
NEVER_INLINE void score_rows(const Request& request, int64_t begin, int64_t end) {
  for (int64_t r = begin; r < end; r++) score_row<Format, want_entropy, want_rank>(request, r);
}

template <class Format>
void score(const Request& request, int64_t begin, int64_t end) {
  const auto function = request.entropy ? (request.rank ? score_rows<Format, true, true> : score_rows<Format, true, false>)
                                        : (request.rank ? score_rows<Format, false, true> : score_rows<Format, false, false>);
  function(request, begin, end);
}

}  // namespace

void NLL_ENTRY(const Request& request, int64_t begin, int64_t end) {
  if (request.format == kFloat32) score<Float32>(request, begin, end);
  if (request.format == kBFloat16) score<BFloat16>(request, begin, end);
  if (request.format == kFloat16) score<Float16>(request, begin, end);
}

}  // namespace mindeval
