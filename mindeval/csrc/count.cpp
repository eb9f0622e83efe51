// How often each decision met each label: the counting loop of the classification metrics.
//
// A count is one addition in memory, but two of the same cell one after the other must wait for each other, and labels
// come in runs.  So neighbouring positions count in tables of their own, which are added at the end; integers, so the
// result does not depend on it.
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

constexpr int kTables = 4;
constexpr int64_t kMostCells = 1 << 13;      // of one table: the tables together should stay in the second-level cache
constexpr int64_t kBlock = 1 << 16;          // positions between two additions to the result: a count fits 32 bits

// Adds to `result` [size, size], row = label.  Returns the first position at which either id is outside of [0, size),
// and has added nothing from its block on; n if there is none.
template <class Decision, class Label>
int64_t count(const Decision* decisions, const Label* labels, int64_t n, int64_t size, int64_t* result) {
  const uint64_t limit = static_cast<uint64_t>(size);
  const int64_t cells = size * size;
  std::vector<uint32_t> tables(kTables * cells);
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = n - begin < kBlock ? n : begin + kBlock;
    uint32_t outside = 0;
    auto add = [&](int64_t k, uint32_t* table) {
      // Sign extension makes a negative id a huge one, so one comparison checks both ends.
      const uint64_t label = static_cast<uint64_t>(static_cast<int64_t>(labels[k]));
      const uint64_t decision = static_cast<uint64_t>(static_cast<int64_t>(decisions[k]));
      const bool bad = (label >= limit) | (decision >= limit);
      outside |= bad;
      table[bad ? 0 : label * limit + decision]++;
    };
    int64_t k = begin;
    for (; k + kTables <= end; k += kTables)
      for (int t = 0; t < kTables; t++) add(k + t, &tables[t * cells]);
    for (; k < end; k++) add(k, tables.data());
    if (outside)
      for (k = begin;; k++)
        if (static_cast<uint64_t>(static_cast<int64_t>(labels[k])) >= limit ||
            static_cast<uint64_t>(static_cast<int64_t>(decisions[k])) >= limit)
          return k;
    if (end == n || end / kBlock % 64 == 0) {
      for (int64_t cell = 0; cell < kTables * cells; cell++) result[cell % cells] += tables[cell];
      std::memset(tables.data(), 0, tables.size() * sizeof tables[0]);
    }
  }
  return n;
}

template <class Decision>
int64_t count_labels(const Decision* decisions, const void* labels, int label_bytes, int64_t n, int64_t size, int64_t* result) {
  if (label_bytes == 8) return count(decisions, static_cast<const int64_t*>(labels), n, size, result);
  return count(decisions, static_cast<const int32_t*>(labels), n, size, result);
}

}  // namespace
