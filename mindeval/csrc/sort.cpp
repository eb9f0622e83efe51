// Sorts 64-bit integers by their digits of 8 bits: no comparison, so no branch to be guessed, on any processor.
#include <cstdint>
#include <cstring>
#include <utility>

#include "shares.h"

namespace {

constexpr int kBits = 8;
constexpr int64_t kBuckets = 1 << kBits;
constexpr int64_t kDigits = 64 / kBits;
constexpr int64_t kCached = 1 << 15;         // so many words and their copy stay in the second-level cache

struct Range {
  uint64_t least;
  int bits;                                  // of the greatest word minus the least
};

Range range_of(const int64_t* words, int64_t n) {
  int64_t least = words[0], greatest = words[0];
  for (int64_t k = 1; k < n; k++) {
    least = words[k] < least ? words[k] : least;
    greatest = words[k] > greatest ? words[k] : greatest;
  }
  const uint64_t span = static_cast<uint64_t>(greatest) - static_cast<uint64_t>(least);
  return {static_cast<uint64_t>(least), span ? 64 - __builtin_clzll(span) : 0};
}

int64_t bucket(int64_t word, uint64_t least, int shift) {
  return (static_cast<uint64_t>(word) - least) >> shift & (kBuckets - 1);
}

// From how many words each bucket holds to where it starts.
void to_starts(int64_t* counts) {
  int64_t total = 0;
  for (int64_t b = 0; b < kBuckets; b++) total += std::exchange(counts[b], total);
}

// By the lowest digit first: each pass keeps the order of the one before.
void sort_upwards(int64_t* words, int64_t* spare, int64_t n, Range range) {
  int64_t counts[kDigits][kBuckets];
  const int digits = (range.bits + kBits - 1) / kBits;
  std::memset(counts, 0, digits * sizeof counts[0]);
  for (int64_t k = 0; k < n; k++)
    for (int d = 0; d < digits; d++) counts[d][bucket(words[k], range.least, kBits * d)]++;
  int64_t *from = words, *to = spare;
  for (int d = 0; d < digits; d++) {
    int64_t* const places = counts[d];
    if (places[bucket(from[0], range.least, kBits * d)] == n) continue;          // one digit for all
    to_starts(places);
    for (int64_t k = 0; k < n; k++) to[places[bucket(from[k], range.least, kBits * d)]++] = from[k];
    std::swap(from, to);
  }
  if (from != words) std::memcpy(words, from, n * sizeof *words);
}

// By the highest digit of the range, and then each bucket on its own: at most one call in another for each digit.
void sort(int64_t* words, int64_t* spare, int64_t n, int threads) {
  if (n < 2) return;
  const Range range = range_of(words, n);
  if (n <= kCached || range.bits <= kBits) return sort_upwards(words, spare, n, range);
  const int shift = range.bits - kBits;
  int64_t places[kBuckets] = {0};
  for (int64_t k = 0; k < n; k++) places[bucket(words[k], range.least, shift)]++;
  to_starts(places);
  for (int64_t k = 0; k < n; k++) spare[places[bucket(words[k], range.least, shift)]++] = words[k];
  mindeval::in_shares(kBuckets, 1, threads, [&](int64_t b, int64_t) {
    const int64_t start = b ? places[b - 1] : 0, size = places[b] - start;       // by now a place is a bucket's end
    std::memcpy(words + start, spare + start, size * sizeof *words);
    sort(words + start, spare + start, size, 1);
  });
}

}  // namespace

// Sorts n words, with spare room for n.
extern "C" void mindeval_sort(int64_t* words, int64_t* spare, int64_t n, int threads) { sort(words, spare, n, threads); }
