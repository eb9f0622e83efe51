// The rows kernel for x86-64 processors with AVX2.
#if defined(__x86_64__)
#include "nll_includes.h"
#pragma GCC target("avx,avx2")
#define NLL_WIDTH 8
#define NLL_ENTRY rows_width_8
#include "nll_rows.h"
#endif
