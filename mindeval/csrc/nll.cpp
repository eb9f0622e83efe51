// C interface of the native kernel: picks the register width, shares the rows among threads.
#include "nll.h"

#include <cfenv>

#include "shares.h"

namespace mindeval {
namespace {

typedef void (*RowsFunction)(const Request&, int64_t, int64_t);

int widest() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return 16;
  if (__builtin_cpu_supports("avx2")) return 8;
#endif
  return 4;
}

RowsFunction rows_function(int width) {
#if defined(__x86_64__)
  if (width == 16) return rows_width_16;
  if (width == 8) return rows_width_8;
#endif
  return rows_width_4;
}

// The result may not depend on the caller's rounding mode or flush-to-zero bits (MindSpore's threads set them).
class DefaultFloatingPoint {
 public:
  DefaultFloatingPoint() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatingPoint() { std::fesetenv(&saved_); }

 private:
  std::fenv_t saved_;
};

void run(const Request& request, int64_t rows, int threads, RowsFunction function) {
  in_shares(rows, share_of(rows, threads), threads, [&](int64_t begin, int64_t end) {
    DefaultFloatingPoint scope;
    function(request, begin, end);
  });
}

}  // namespace
}  // namespace mindeval

extern "C" {

// Floats in a register of the code that this processor runs: 4, 8 or 16.
int mindeval_width() { return mindeval::widest(); }

int mindeval_token_nll(const void* logits, int format, int64_t rows, int64_t vocab, const int64_t* offsets,
                       const int64_t* labels, const float* targets, double* nll, int64_t* rank, double* entropy, int threads,
                       int width) {
  static const int widest = mindeval::widest();
  if (format < 0 || format > 2 || width > widest || (width != 0 && width != 4 && width != 8 && width != 16)) return 1;
  const mindeval::Request request{logits,  static_cast<mindeval::Format>(format), vocab, offsets, labels,
                                  targets, nll, rank, entropy};
  mindeval::run(request, rows, threads > 1 ? threads : 1, mindeval::rows_function(width ? width : widest));
  return 0;
}

}  // extern "C"
