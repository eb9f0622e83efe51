// What the translation units of the native kernel share: one request, and one function per instruction set.
#ifndef MINDEVAL_NLL_H
#define MINDEVAL_NLL_H

#include <cstdint>

namespace mindeval {

enum Format : int { kFloat32 = 0, kBFloat16 = 1, kFloat16 = 2 };

struct Request {
  const void* logits;          // row r starts `offsets[r]` elements after this address
  Format format;
  int64_t vocab;               // logits in a row, adjacent in memory
  const int64_t* offsets;
  const int64_t* labels;       // in [0, vocab), which the caller has checked, unless there are targets
  const float* targets;        // null, or the labels' logits: then labels may lie outside of the columns given here,
                               // which are a part of the vocabulary, and nll is relative to them and may be negative
  double* nll;
  int64_t* rank;               // may be null
  double* entropy;             // may be null
};

// Rows [begin, end) of the request, with 4, 8 or 16 floats in a register.  All give the same bits.
void rows_width_4(const Request& request, int64_t begin, int64_t end);
#if defined(__x86_64__)
void rows_width_8(const Request& request, int64_t begin, int64_t end);
void rows_width_16(const Request& request, int64_t begin, int64_t end);
#endif

}  // namespace mindeval

// Scores `rows` rows of `vocab` logits; see mindeval::Request.  width: floats in a register, 0 for the widest that this
// processor has.  Returns 0, or 1 if the processor lacks the width or the format does not exist.
extern "C" int mindeval_token_nll(const void* logits, int format, int64_t rows, int64_t vocab, const int64_t* offsets,
                                  const int64_t* labels, const float* targets, double* nll, int64_t* rank,
                                  double* entropy, int threads, int width);

#endif
