// How often each decision met each label: the counting loop of the classification metrics, in one read of both.
//
// Two additions to one cell, one after the other, must wait for each other, and classes come in runs.  So neighbouring
// positions count in tables of their own, and so do threads: all are added at the end, in any order, as integers.
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "shares.h"

namespace {

constexpr int64_t kMostCells = 1024;         // with more, one table: four would leave the first-level cache
constexpr int64_t kPrefetchBytes = 4096;     // the hardware's own prefetch stops at each 4 KiB page

template <class Decision, class Label>
struct Positions {
  const Decision* decisions;
  const Label* labels;
  const uint8_t* counted;                    // null: all but those whose label is `ignored`
  int64_t ignored;
};

// Adds the counts of positions [begin, end) to `result`, one caller at a time; false if a class is outside of [0, size).
// pairs: result [size, size], row = label.  Otherwise [size, 3]: decided rightly, decided, labelled.
template <bool masked, bool pairs, int tables, class Decision, class Label>
bool count(const Positions<Decision, Label>& given, int64_t begin, int64_t end, int64_t size, int64_t* result,
           std::mutex& one_at_a_time) {
  const Decision* const decisions = given.decisions;
  const Label* const labels = given.labels;
  const uint8_t* const counted = given.counted;
  const int64_t ignored = given.ignored;
  const uint64_t limit = static_cast<uint64_t>(size);
  const int64_t cells = size * (pairs ? size : 3);
  std::vector<int64_t> partial(tables > 1 ? tables * cells : 0);
  int64_t* table[tables];
  for (int t = 0; t < tables; t++) table[t] = tables > 1 ? partial.data() + t * cells : result;

  auto add = [=](int64_t k, int64_t* cell) {           // by value: addresses stay in registers
    const int64_t signed_label = labels[k];
    if (masked ? !counted[k] : signed_label == ignored) return true;
    const uint64_t label = static_cast<uint64_t>(signed_label);                        // negative: huge
    const uint64_t decision = static_cast<uint64_t>(static_cast<int64_t>(decisions[k]));
    if (label >= limit || decision >= limit) return false;
    if (pairs) {
      cell[label * limit + decision]++;
    } else {
      cell[3 * label] += label == decision;
      cell[3 * decision + 1]++;
      cell[3 * label + 2]++;
    }
    return true;
  };
  int64_t k = begin;
  for (; k + tables <= end; k += tables) {
    __builtin_prefetch(reinterpret_cast<const char*>(decisions + k) + kPrefetchBytes);
    __builtin_prefetch(reinterpret_cast<const char*>(labels + k) + kPrefetchBytes);
#pragma GCC unroll 4
    for (int t = 0; t < tables; t++)
      if (!add(k + t, table[t])) return false;
  }
  for (; k < end; k++)
    if (!add(k, table[0])) return false;
  const std::lock_guard<std::mutex> alone(one_at_a_time);
  for (int64_t t = 0; tables > 1 && t < tables; t++)
    for (int64_t cell = 0; cell < cells; cell++) result[cell] += table[t][cell];
  return true;
}

template <bool masked, bool pairs, class Decision, class Label>
bool count(const Positions<Decision, Label>& given, int64_t n, int64_t size, int threads, int64_t* result) {
  std::mutex one_at_a_time;
  if (size * (pairs ? size : 3) > kMostCells) return count<masked, pairs, 1>(given, 0, n, size, result, one_at_a_time);
  std::atomic<bool> inside{true};
  mindeval::in_shares(n, mindeval::share_of(n, threads), threads, [&](int64_t begin, int64_t end) {
    if (!count<masked, pairs, 4>(given, begin, end, size, result, one_at_a_time)) inside = false;
  });
  return inside;
}

template <class Decision, class Label>
bool count(const void* decisions, const void* labels, const uint8_t* counted, int64_t ignored, int64_t n, int64_t size,
           bool pairs, int threads, int64_t* result) {
  const Positions<Decision, Label> given{static_cast<const Decision*>(decisions), static_cast<const Label*>(labels),
                                         counted, ignored};
  const auto function = counted ? (pairs ? count<true, true, Decision, Label> : count<true, false, Decision, Label>)
                                : (pairs ? count<false, true, Decision, Label> : count<false, false, Decision, Label>);
  return function(given, n, size, threads, result);
}

}  // namespace

// Classes of 4 or 8 bytes each.  Returns 0; or 1 if a class is out of range, and then `result` is not defined.
extern "C" int mindeval_count(const void* decisions, int decision_bytes, const void* labels, int label_bytes,
                              const uint8_t* counted, int64_t ignored, int64_t n, int64_t size, int pairs, int threads,
                              int64_t* result) {
  const bool wide = decision_bytes == 8, wide_labels = label_bytes == 8;
  const auto function = wide ? (wide_labels ? count<int64_t, int64_t> : count<int64_t, int32_t>)
                             : (wide_labels ? count<int32_t, int64_t> : count<int32_t, int32_t>);
  return function(decisions, labels, counted, ignored, n, size, pairs != 0, threads, result) ? 0 : 1;
}
