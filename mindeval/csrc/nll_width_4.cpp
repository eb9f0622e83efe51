// The rows kernel for processors that are only known to have SSE2 (x86-64) or NEON (aarch64).
#define NLL_WIDTH 4
#define NLL_ENTRY rows_width_4
#include "nll_rows.h"
