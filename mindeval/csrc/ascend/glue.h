// What the two entrances of the glue share: PyNative (glue.cc) and graph mode (graph.cc).
#pragma once
#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "acl/acl.h"
#include "nll_view.h"

namespace mindeval {

// The vector cores' unified buffer on the training cards this is built for (A2 and A3); newer ones have more.
constexpr uint64_t kUnifiedBuffer = 192 * 1024;

// What CANN's ascendc_library() makes of a kernel in nll_kernel.cpp: a function that puts it on a stream.
using LaunchFunction = uint32_t (*)(uint32_t cores, void *stream, void *logits, void *labels, void *statistics, uint32_t rows,
                                    uint32_t vocab, uint32_t groupRows, uint32_t withRank, uint64_t groupStride,
                                    uint64_t rowStride, uint32_t tile);

struct Kernels {
  LaunchFunction float32 = nullptr;
  LaunchFunction float16 = nullptr;
  LaunchFunction bfloat16 = nullptr;
};

inline Kernels &LoadedKernels() {
  static Kernels kernels;
  return kernels;
}

// Opens the library of the Ascend C kernels. They are a library of their own, so that the glue to CANN's own operators works
// where the kernels could not be built.
inline void OpenKernels(const std::string &path) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  const auto find = [&](const std::string &dtype) {
    const std::string name = "aclrtlaunch_mindeval_nll_" + dtype;
    void *const symbol = dlsym(library, name.c_str());
    if (symbol == nullptr) throw std::runtime_error(path + " has no symbol " + name);
    return reinterpret_cast<LaunchFunction>(symbol);
  };
  LoadedKernels() = {find("float32"), find("float16"), find("bfloat16")};
}

inline uint64_t VectorCores() {
  int32_t device = 0;
  int64_t cores = 0;
  if (aclrtGetDevice(&device) != ACL_SUCCESS ||
      aclGetDeviceCapability(static_cast<uint32_t>(device), ACL_DEVICE_INFO_VECTOR_CORE_NUM, &cores) != ACL_SUCCESS ||
      cores <= 0) {
    throw std::runtime_error("the number of vector cores of this device cannot be read");
  }
  return static_cast<uint64_t>(cores);
}

inline void LaunchTokenStatistics(LaunchFunction kernel, uint64_t elementBytes, const NllShape &shape, void *stream, void *logits,
                                  void *labels, void *statistics) {
  if (shape.rows == 0) return;
  const NllTiling tiling = ChooseTiling(shape.rows, shape.vocab, elementBytes, VectorCores(), kUnifiedBuffer);
  const uint32_t failed = kernel(tiling.cores, stream, logits, labels, statistics, shape.rows, shape.vocab, shape.groupRows,
                                 shape.withRank, shape.groupStride, shape.rowStride, tiling.tile);
  if (failed != 0) throw std::runtime_error("the launch of the token statistics kernel failed with code " + std::to_string(failed));
}

}  // namespace mindeval
