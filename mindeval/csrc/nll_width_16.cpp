// The rows kernel for x86-64 processors with AVX-512 (F, BW, DQ, VL).
#if defined(__x86_64__)
#include "nll_includes.h"
#pragma GCC target("avx,avx2,avx512f,avx512bw,avx512dq,avx512vl")
#define NLL_WIDTH 16
#define NLL_ENTRY rows_width_16
#include "nll_rows.h"
#endif
