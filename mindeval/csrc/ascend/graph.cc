// mindeval_token_statistics in graph mode: shape and type inference, and the kernel as the graph's executor launches it.
// The operator's definition is op_def.yaml.
#include <vector>

#include "glue.h"
#include "ms_extension/api.h"

namespace mindeval {

using mindspore::PrimitivePtr;
using mindspore::TypeId;
using mindspore::kernel::KernelTensor;
using mindspore::ops::InferInfoPtrList;

class TokenStatisticsInfer : public mindspore::ops::OpFuncImpl {
 public:
  mindspore::ShapeArray InferShape(const PrimitivePtr &, const InferInfoPtrList &inputs) const override {
    const auto labels = inputs[1]->GetShape();
    const bool known = labels.size() == 1 && labels[0] >= 0;
    return {{kStatistics, known ? labels[0] : mindspore::abstract::Shape::kShapeDimAny}};
  }
  std::vector<TypeId> InferType(const PrimitivePtr &, const InferInfoPtrList &) const override {
    return {TypeId::kNumberTypeFloat32};
  }
  bool GeneralInferRegistered() const override { return true; }
};

class TokenStatisticsKernel : public mindspore::kernel::KernelMod {
 public:
  bool Init(const std::vector<KernelTensor *> &inputs, const std::vector<KernelTensor *> &) override {
    const TypeId dtype = inputs[0]->dtype_id();
    const Kernels &kernels = LoadedKernels();
    kernel_ = dtype == TypeId::kNumberTypeFloat32    ? kernels.float32
              : dtype == TypeId::kNumberTypeFloat16  ? kernels.float16
              : dtype == TypeId::kNumberTypeBFloat16 ? kernels.bfloat16
                                                     : nullptr;
    elementBytes_ = dtype == TypeId::kNumberTypeFloat32 ? 4 : 2;
    return kernel_ != nullptr;
  }

  bool Launch(const std::vector<KernelTensor *> &inputs, const std::vector<KernelTensor *> &,
              const std::vector<KernelTensor *> &outputs, void *stream) override {
    const auto sizes = inputs[0]->GetShapeVector();
    std::vector<int64_t> strides(sizes.size(), 1);  // tensors of a graph are contiguous
    for (size_t axis = sizes.size() - 1; axis > 0; --axis) strides[axis - 1] = strides[axis] * sizes[axis];
    const auto vocab = inputs[2]->GetValueWithCheck<int64_t>();
    const auto withRank = inputs[3]->GetValueWithCheck<bool>();
    LaunchTokenStatistics(kernel_, elementBytes_, ShapeOf(sizes, strides, vocab, withRank), stream, inputs[0]->device_ptr(),
                          inputs[1]->device_ptr(), outputs[0]->device_ptr());
    return true;
  }

  std::vector<mindspore::kernel::KernelAttr> GetOpSupport() override { return {}; }

 private:
  LaunchFunction kernel_ = nullptr;
  uint64_t elementBytes_ = 0;
};

}  // namespace mindeval

MS_CUSTOM_OPS_REGISTER(mindeval_token_statistics, mindeval::TokenStatisticsInfer, mindeval::TokenStatisticsKernel);
