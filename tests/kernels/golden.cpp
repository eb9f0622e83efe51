// Prints a hash of the native kernel's results on logits made of integers: test_golden.py has the value that every
// processor must give, and how to run this elsewhere.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <vector>

extern "C" int mindeval_width();
extern "C" int mindeval_token_nll(const void*, int, int64_t, int64_t, const int64_t*, const int64_t*, const float*,
                                  double*, int64_t*, double*, int, int);

namespace {

uint64_t state, hash;

uint32_t random_word() {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return static_cast<uint32_t>(state >> 32);
}

void add_to_hash(const void* bytes, size_t count) {  // FNV-1a
  for (size_t k = 0; k < count; k++) hash = (hash ^ static_cast<const unsigned char*>(bytes)[k]) * 1099511628211ull;
}

// A logit of row kind 0 (small), 1 (up to 64), 2 (a third is -inf) or 3 (above 8192).
uint32_t logit(int kind, int column, int size, uint32_t bias, int mantissa, int bits) {
  const uint32_t u = random_word();
  const uint32_t low = u & ((1u << mantissa) - 1), sign = u >> 31;
  if (kind == 2 && column < size / 3) return (1u << (bits - 1)) | ((2 * bias + 1) << mantissa);
  const uint32_t exponent = kind == 1 ? bias + 2 + (u >> 23 & 3) : kind == 3 ? bias + 13 : bias - 6 + (u >> 23 & 7);
  return (kind == 3 ? 0 : sign << (bits - 1)) | (exponent << mantissa) | low;
}

}  // namespace

int main() {
  const uint32_t bias[] = {127, 127, 15};
  const int mantissa[] = {23, 7, 10}, bits[] = {32, 16, 16};
  for (int width = 4; width <= mindeval_width(); width *= 2) {
    state = 1, hash = 14695981039346656037ull;
    for (int format = 0; format < 3; format++)
      for (int size : {1, 7, 130, 2049, 5000}) {
        std::vector<uint32_t> words;
        std::vector<uint16_t> halves;
        int64_t labels[4], offsets[4], rank[4];
        double nll[4], entropy[4];
        for (int row = 0; row < 4; row++) {
          for (int k = 0; k < size; k++) words.push_back(logit(row, k, size, bias[format], mantissa[format], bits[format]));
          labels[row] = random_word() % size;
          offsets[row] = static_cast<int64_t>(row) * size;
        }
        for (uint32_t word : words) halves.push_back(static_cast<uint16_t>(word));
        const void* logits = format == 0 ? static_cast<const void*>(words.data()) : halves.data();
        if (mindeval_token_nll(logits, format, 4, size, offsets, labels, nullptr, nll, rank, entropy, 2, width)) return 1;
        add_to_hash(nll, sizeof nll);
        add_to_hash(rank, sizeof rank);
        add_to_hash(entropy, sizeof entropy);
      }
    std::printf("width %d: %016" PRIx64 "\n", width, hash);
  }
}
