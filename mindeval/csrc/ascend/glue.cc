// The Ascend operators of mindeval in MindSpore's PyNative mode, compiled on the Ascend host by `python -m mindeval.kernels.build`.
//
//   mindeval_token_statistics   logits given: our Ascend C kernel (nll_kernel.cpp)
//   mindeval_linear_max_sum     hidden states and weight given: CANN's aclnnFusedLinearOnlineMaxSum, which never stores the logits
#include <memory>
#include <optional>

#include "glue.h"
#include "ms_extension/api.h"

namespace mindeval {

using ms::Tensor;
using ms::TypeId;

namespace {

LaunchFunction KernelFor(TypeId dtype) {
  const Kernels &kernels = LoadedKernels();
  const LaunchFunction kernel = dtype == TypeId::kNumberTypeFloat32    ? kernels.float32
                                : dtype == TypeId::kNumberTypeFloat16  ? kernels.float16
                                : dtype == TypeId::kNumberTypeBFloat16 ? kernels.bfloat16
                                                                       : nullptr;
  if (kernel == nullptr) throw std::runtime_error("the Ascend C kernels are not open, or not made for this dtype");
  return kernel;
}

class TokenStatisticsRunner : public ms::pynative::PyboostRunner {
 public:
  TokenStatisticsRunner(LaunchFunction kernel, uint64_t elementBytes, const NllShape &shape)
      : PyboostRunner("mindeval_token_statistics"), kernel_(kernel), elementBytes_(elementBytes), shape_(shape) {}

  void LaunchKernel() override {
    LaunchTokenStatistics(kernel_, elementBytes_, shape_, stream(), inputs()[0].GetDataPtr(), inputs()[1].GetDataPtr(),
                          outputs()[0].GetDataPtr());
  }

 private:
  LaunchFunction kernel_;
  uint64_t elementBytes_;
  NllShape shape_;
};

// logits [N, V] or [B, T, V], labels int32 [N] or [B * T] as nll_tiling.h defines them -> float32 [4, rows]
Tensor TokenStatistics(const Tensor &logits, const Tensor &labels, int64_t vocab, bool withRank) {
  const NllShape shape = ShapeOf(logits.shape(), logits.stride(), vocab, withRank);
  if (labels.data_type() != TypeId::kNumberTypeInt32 || labels.numel() != shape.rows) {
    throw std::invalid_argument("labels must be int32, one per row of the logits");
  }
  logits.SetNeedContiguous(false);  // the kernel steps over the gaps of a view
  const uint64_t elementBytes = logits.data_type() == TypeId::kNumberTypeFloat32 ? 4 : 2;
  Tensor statistics(TypeId::kNumberTypeFloat32, {kStatistics, shape.rows});
  const auto runner = std::make_shared<TokenStatisticsRunner>(KernelFor(logits.data_type()), elementBytes, shape);
  runner->Run({logits, labels}, {statistics});
  return statistics;
}

// hidden [N, H], weight [V, H] (both float16 or both bfloat16), labels [N] -> max, sum of exponentials, label's logit - max
// (0 where the label is not in [start, end]), each float32 [N]. `start` and `end` are the ids of this shard's first and last
// row of the weight.
std::vector<Tensor> LinearMaxSum(const Tensor &hidden, const Tensor &weight, const Tensor &labels, int64_t start, int64_t end) {
  const int64_t rows = hidden.shape()[0];
  const TypeId float32 = TypeId::kNumberTypeFloat32;
  Tensor max(float32, {rows}), sum(float32, {rows}), target(float32, {rows});
  Tensor elsewhere(TypeId::kNumberTypeUInt8, {(rows + 7) / 8}), localLabels(labels.data_type(), {rows});
  const std::optional<Tensor> noLogits = std::nullopt;
  const auto runner = std::make_shared<ms::pynative::AclnnOpRunner>("FusedLinearOnlineMaxSum");
  runner->SetLaunchFunc(LAUNCH_ACLNN_FUNC(aclnnFusedLinearOnlineMaxSum, hidden, weight, labels, start, end, max, sum, target,
                                          elsewhere, localLabels, noLogits));
  runner->Run({hidden, weight, labels}, {max, sum, target, elsewhere, localLabels});
  return {max, sum, target};
}

auto CallTokenStatistics(const Tensor &logits, const Tensor &labels, int64_t vocab, bool withRank) {
  return ms::pynative::PyboostRunner::Call<1>(TokenStatistics, logits, labels, vocab, withRank);
}

auto CallLinearMaxSum(const Tensor &hidden, const Tensor &weight, const Tensor &labels, int64_t start, int64_t end) {
  return ms::pynative::PyboostRunner::Call<3>(LinearMaxSum, hidden, weight, labels, start, end);
}

}  // namespace
}  // namespace mindeval

PYBIND11_MODULE(MS_EXTENSION_NAME, module) {
  module.def("open_kernels", &mindeval::OpenKernels);
  module.def("mindeval_token_statistics", &mindeval::CallTokenStatistics);
  module.def("mindeval_linear_max_sum", &mindeval::CallLinearMaxSum);
}
