// The native kernel as a custom operator of MindSpore (`ops.Custom`, func_type "aot"), for graphs on the CPU.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "nll.h"

namespace {

// What the docstring of mindeval.kernels.TokenNLL says of them.
enum Error { kWrongShapes = 1, kWrongLogits, kWrongLabels, kWrongOptions, kLabelOutsideVocabulary, kTooLittleMemory };

constexpr int64_t kLogitsPerThread = 1 << 17;      // fewer are not worth a thread

int format_named(const char* dtype) {
  if (!std::strcmp(dtype, "float32")) return mindeval::kFloat32;
  if (!std::strcmp(dtype, "bfloat16")) return mindeval::kBFloat16;
  if (!std::strcmp(dtype, "float16")) return mindeval::kFloat16;
  return -1;
}

int threads(int64_t rows, int64_t columns) {
  const char* wanted = std::getenv("MINDEVAL_NUM_THREADS");      // TokenNLL has checked it
  const int64_t most = wanted && *wanted ? std::strtol(wanted, nullptr, 10) : std::thread::hardware_concurrency();
  return static_cast<int>(std::max<int64_t>(1, std::min({most, rows, rows * columns / kLogitsPerThread})));
}

// Whether labels have all axes of the logits but the last.
bool shapes_match(const int* ranks, int64_t* const* shapes) {
  if (ranks[0] < 1 || ranks[1] != ranks[0] - 1 || shapes[0][ranks[1]] < 1) return false;
  return std::equal(shapes[0], shapes[0] + ranks[1], shapes[1]);
}

int token_nll(int count, void** data, const int* ranks, int64_t* const* shapes, const char** dtypes) {
  const int format = format_named(dtypes[0]);
  if (format < 0) return kWrongLogits;
  const bool wide = !std::strcmp(dtypes[1], "int64");
  if (!wide && std::strcmp(dtypes[1], "int32")) return kWrongLabels;
  if (std::strcmp(dtypes[2], "int64") || ranks[2] != 1 || shapes[2][0] != 2) return kWrongOptions;
  if (!shapes_match(ranks, shapes)) return kWrongShapes;
  for (int k = 3; k < count; k++) {
    const bool right_type = !std::strcmp(dtypes[k], k == 3 ? "float64" : "int64");
    if (!right_type || ranks[k] != ranks[1] || !std::equal(shapes[1], shapes[1] + ranks[1], shapes[k])) return kWrongShapes;
  }

  const int64_t columns = shapes[0][ranks[0] - 1];
  const int64_t ignore_index = static_cast<const int64_t*>(data[2])[0], limit = static_cast<const int64_t*>(data[2])[1];
  if (limit < 0 || limit > columns) return kWrongOptions;
  const int64_t vocab = limit ? limit : columns;
  int64_t rows = 1;
  for (int k = 0; k < ranks[1]; k++) rows *= shapes[1][k];

  std::vector<int64_t> kept, offsets, labels;
  double* nll = static_cast<double*>(data[3]);
  int64_t* rank = count == 5 ? static_cast<int64_t*>(data[4]) : nullptr;
  for (int64_t r = 0; r < rows; r++) {
    const int64_t label = wide ? static_cast<const int64_t*>(data[1])[r] : static_cast<const int32_t*>(data[1])[r];
    nll[r] = 0;
    if (rank) rank[r] = -1;
    if (label == ignore_index) continue;
    if (label < 0 || label >= vocab) return kLabelOutsideVocabulary;
    kept.push_back(r);
    offsets.push_back(r * columns);
    labels.push_back(label);
  }
  std::vector<double> results(kept.size());
  std::vector<int64_t> places(rank ? kept.size() : 0);
  const int64_t n = static_cast<int64_t>(kept.size());
  const int failed = mindeval_token_nll(data[0], format, n, vocab, offsets.data(), labels.data(), nullptr, results.data(),
                                        rank ? places.data() : nullptr, nullptr, threads(n, vocab), 0);
  for (size_t k = 0; k < kept.size(); k++) nll[kept[k]] = results[k];
  for (size_t k = 0; k < places.size(); k++) rank[kept[k]] = places[k];
  return failed;
}

}  // namespace

// Inputs: logits [..., V]; labels int32 or int64 [...]; options int64 [ignore_index, vocab_size or 0].
// Outputs: nll float64 [...], and if there is a second one the rank int64 [...], -1 at ignored labels.  What is not 0
// becomes an exception of MindSpore.
extern "C" int mindeval_custom_token_nll(int count, void** data, int* ranks, int64_t** shapes, const char** dtypes, void*,
                                         void*) {
  if (count < 4 || count > 5) return kWrongShapes;
  try {
    return token_nll(count, data, ranks, shapes, dtypes);
  } catch (const std::bad_alloc&) {
    return kTooLittleMemory;
  }
}

// The same with the rank: MindSpore keeps what it knows of an operator, such as its number of outputs, by this name.
extern "C" int mindeval_custom_token_nll_rank(int count, void** data, int* ranks, int64_t** shapes, const char** dtypes,
                                              void* stream, void* extra) {
  return mindeval_custom_token_nll(count, data, ranks, shapes, dtypes, stream, extra);
}
