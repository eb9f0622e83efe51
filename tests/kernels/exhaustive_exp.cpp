// Prints the largest relative error of scaled_exp, against the C library's exp in double (whose own is below 1e-15), for
// each format of logits: "float32 8.2e-08 at -13.5".
//
//     g++ -O3 -march=native -std=c++17 -ffp-contract=off -Wno-psabi -DNLL_WIDTH=16 tests/kernels/exhaustive_exp.cpp
//     ./a.out [stride]
//
// float32: every `stride`-th with 2^-12 <= |x| <= 205.  float16, bfloat16: all with |x| <= 173 and 205.  These are beyond the
// largest logits inside the window of the largest reference.  docs/kernels.md says why other float32 need no check, and
// why another reference only changes the power of 2; the latter is checked too, at 40 octaves from x on both sides.
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#ifndef NLL_WIDTH
#define NLL_WIDTH 4
#endif
#define NLL_ENTRY rows_unused
#include "../../mindeval/csrc/nll_rows.h"

namespace mindeval {

struct Worst {
  double error = 0, logit = 0;
};

// One vector of logits, each x times 2^-k as the format is loaded.  They must lie within 22 octaves of each other.
template <class Format, bool plain>
void check(Floats loaded, int count, Worst& worst) {
  const double up = plain ? 1 : static_cast<double>(Format::kUp), lambda = std::exp(kLogLambda);
  const Frame frame = frame_around(static_cast<float>(loaded[0] * up), 0);
  Ints t, unused_bits;
  Floats unused;
  const Floats got = scaled_exp<Format, plain>(loaded, frame.magic, t, unused);
  const Floats lower = scaled_exp<Format, plain>(loaded, frame.magic - 320 * kUnit, unused_bits, unused);
  const Floats upper = scaled_exp<Format, plain>(loaded, frame.magic + 320 * kUnit, unused_bits, unused);
  for (int k = 0; k < count; k++) {
    const double x = loaded[k] * up, exact = std::ldexp(std::exp(x) * lambda, -frame.eighths / 8);
    const bool outside = (t[k] & ~(kWindow - 1)) != kWindowBits;
    const bool scaled = lower[k] == got[k] * 0x1p-40f && upper[k] == got[k] * 0x1p40f;
    const double error = outside || !scaled ? INFINITY : std::fabs(got[k] / exact - 1);
    if (!(error <= worst.error)) worst = {error, x};
  }
}

uint32_t bits_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}

Worst check_float32(uint32_t stride) {
  Worst worst;
  for (uint32_t sign : {0u, 0x80000000u})
    for (uint64_t first = bits_of(0x1p-12f), last = bits_of(205); first <= last; first += static_cast<uint64_t>(stride) * W) {
      Floats x{};
      int count = 0;
      for (; count < W && first + static_cast<uint64_t>(stride) * count <= last; count++) {
        const uint32_t bits = sign | static_cast<uint32_t>(first + static_cast<uint64_t>(stride) * count);
        float value;
        std::memcpy(&value, &bits, 4);
        x[count] = value;
      }
      check<Float32, true>(x, count, worst);
    }
  return worst;
}

// Both ways to load a 16-bit logit.  A block of equal logits is loaded like any other.
template <class Format>
Worst check_halves(float limit) {
  Worst worst;
  for (uint32_t bits = 0; bits < 65536; bits++) {
    uint16_t block[kBlock];
    for (auto& logit : block) logit = static_cast<uint16_t>(bits);
    if (!(std::fabs(Format::value(block[0])) <= limit)) continue;
    check<Format, true>(Format::template load<true>(block, 0, 0), 1, worst);
    check<Format, false>(Format::template load<false>(block, 1, 0), 1, worst);
  }
  return worst;
}

}  // namespace mindeval

int main(int count, char** arguments) {
  using namespace mindeval;
  const Worst results[] = {check_float32(count > 1 ? static_cast<uint32_t>(std::atoi(arguments[1])) : 1),
                           check_halves<BFloat16>(205), check_halves<Float16>(173)};
  const char* names[] = {"float32", "bfloat16", "float16"};
  for (int k = 0; k < 3; k++) std::printf("%s %.5e at %.9g\n", names[k], results[k].error, results[k].logit);
}
