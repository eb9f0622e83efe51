// The speed of memory: the XOR of an array of 32-bit words by some threads, for kernels.py.
#include <cstdint>
#include <thread>
#include <vector>

typedef uint32_t Words __attribute__((vector_size(64), aligned(4)));

extern "C" uint32_t read_all(const char* bytes, int64_t size, int threads) {
  std::vector<uint32_t> results(threads * 16);
  const int64_t lines = size / 64;
  auto work = [&](int t) {
    const Words* p = reinterpret_cast<const Words*>(bytes);
    Words a{}, b{}, c{}, d{};
    const int64_t end = lines * (t + 1) / threads;
    for (int64_t k = lines * t / threads; k + 4 <= end; k += 4) {
      for (int line = 0; line < 4; line++) __builtin_prefetch(reinterpret_cast<const char*>(p + k + line) + 8192);
      a ^= p[k], b ^= p[k + 1], c ^= p[k + 2], d ^= p[k + 3];
    }
    a ^= b ^ c ^ d;
    for (int k = 0; k < 16; k++) results[16 * t] ^= a[k];
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; t++) others.emplace_back(work, t);
  work(0);
  for (auto& thread : others) thread.join();
  uint32_t result = 0;
  for (uint32_t word : results) result ^= word;
  return result;
}
