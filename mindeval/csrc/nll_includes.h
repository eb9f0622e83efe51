// System headers come before `#pragma GCC target`, so that none of their inline functions is compiled for AVX and
// then picked by the linker for a processor without it.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "nll.h"
