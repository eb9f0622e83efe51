// Shares work among threads.
#ifndef MINDEVAL_SHARES_H
#define MINDEVAL_SHARES_H

#include <atomic>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

namespace mindeval {

// How long a share of n positions is: a thread gets several, so a busy core gets fewer of them.
inline int64_t share_of(int64_t n, int threads) {
  const int64_t share = threads > 1 ? n / (8 * threads) : n;
  return share > 1 ? share : 1;
}

// Calls work(begin, end) for parts of [0, n) of at most `share`, from `threads` threads at once.
template <class Work>
void in_shares(int64_t n, int64_t share, int threads, const Work& work) {
  std::atomic<int64_t> next{0};
  auto work_off = [&] {
    for (int64_t begin; (begin = next.fetch_add(share)) < n;) work(begin, begin + share < n ? begin + share : n);
  };
  std::vector<std::thread> others;
  try {
    for (int k = 1; k < threads; k++) others.emplace_back(work_off);
  } catch (const std::system_error&) {
    // No thread to be had: those that exist, at least this one, do it all.
  }
  work_off();
  for (auto& thread : others) thread.join();
}

}  // namespace mindeval

#endif
