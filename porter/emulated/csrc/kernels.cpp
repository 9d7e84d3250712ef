// Operators that the fallback can't serve: allocation, views, copies, and those whose composite
// implementation would leave the device or refuse it.
#include "fallback.h"
#include "lowering.h"
#include "memory.h"
#include "trace.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/resize_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

namespace emulated {
namespace {

const c10::DispatchKeySet kKeys(kBackendKey);

c10::Device resolve(std::optional<c10::Device> device) {
  const auto index = device && device->has_index() ? device->index() : current_device();
  check_device(index);
  return {kDevice, index};
}

void demand_plain(std::optional<c10::Layout> layout, std::optional<bool> pin_memory) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      layout.value_or(c10::kStrided) == c10::kStrided, "The emulated " EMULATED_NAME " device has only dense tensors");
  TORCH_CHECK(!pin_memory.value_or(false), "Only dense CPU tensors can be pinned");
}

at::Tensor empty(
    c10::IntArrayRef size,
    std::optional<c10::ScalarType> dtype,
    std::optional<c10::Layout> layout,
    std::optional<c10::Device> device,
    std::optional<bool> pin_memory,
    std::optional<c10::MemoryFormat> memory_format) {
  demand_plain(layout, pin_memory);
  const c10::DeviceGuard guard(resolve(device));
  return at::detail::empty_generic(
      size, device_allocator(), kKeys, c10::dtype_or_default(dtype), memory_format);
}

at::Tensor empty_strided(
    c10::IntArrayRef size,
    c10::IntArrayRef stride,
    std::optional<c10::ScalarType> dtype,
    std::optional<c10::Layout> layout,
    std::optional<c10::Device> device,
    std::optional<bool> pin_memory) {
  demand_plain(layout, pin_memory);
  const c10::DeviceGuard guard(resolve(device));
  return at::detail::empty_strided_generic(
      size, stride, device_allocator(), kKeys, c10::dtype_or_default(dtype));
}

at::Tensor& copy_(at::Tensor& self, const at::Tensor& source, bool non_blocking) {
  use_device();
  trace("copy ", source.device(), " to ", self.device(), non_blocking ? " without waiting" : "");
  const auto to = cpu_view(self);
  const auto from = cpu_view(source);
  const BelowDispatch below;
  to.copy_(from, non_blocking);
  return self;
}

at::Tensor& set_empty_(at::Tensor& self) {
  const c10::DeviceGuard guard(self.device());
  c10::Storage storage(c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), 0, device_allocator(), /*resizable=*/true));
  return at::native::set_storage_cpu_(self, std::move(storage), 0, {0}, {});
}

const at::Tensor& resize_(
    const at::Tensor& self,
    c10::IntArrayRef size,
    std::optional<c10::MemoryFormat> memory_format) {
  const c10::DeviceGuard guard(self.device());
  return at::native::resize_(self, size, memory_format);
}

void record_stream(at::Tensor& self, c10::Stream stream) {
  TORCH_CHECK(
      stream.device_type() == kDevice,
      "record_stream: expected a stream of the device of the tensor (", self.device(),
      "), not of ", stream.device());
}

// Core torch would make new Parameters in Module.to(): CPU and PrivateUse1 tensors aren't
// compatible in its eyes. torch_npu keeps a Parameter's identity, and optimizers rely on it.
bool has_compatible_shallow_copy_type(const at::Tensor&, const at::Tensor&) {
  return true;
}

at::Tensor convolution_overrideable(
    const at::Tensor& input,
    const at::Tensor& weight,
    const std::optional<at::Tensor>& bias,
    c10::SymIntArrayRef stride,
    c10::SymIntArrayRef padding,
    c10::SymIntArrayRef dilation,
    bool transposed,
    c10::SymIntArrayRef output_padding,
    c10::SymInt groups) {
  return at::convolution_symint(
      input, weight, bias, stride, padding, dilation, transposed, output_padding, groups);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward_overrideable(
    const at::Tensor& grad_output,
    const at::Tensor& input,
    const at::Tensor& weight,
    c10::SymIntArrayRef stride,
    c10::SymIntArrayRef padding,
    c10::SymIntArrayRef dilation,
    bool transposed,
    c10::SymIntArrayRef output_padding,
    c10::SymInt groups,
    std::array<bool, 3> output_mask) {
  return at::convolution_backward_symint(
      grad_output, input, weight, std::nullopt, stride, padding, dilation, transposed,
      output_padding, groups, output_mask);
}

} // namespace

TORCH_LIBRARY_IMPL(aten, EMULATED_KEY, m) {
  m.impl("empty.memory_format", &empty);
  m.impl("empty_strided", &empty_strided);
  m.impl("copy_", &copy_);
  m.impl("as_strided", &at::native::as_strided_tensorimpl);
  m.impl("view", &at::native::view);
  m.impl("_reshape_alias", &at::native::_reshape_alias);
  m.impl("unfold", &at::native::unfold);
  m.impl("resize_", &resize_);
  m.impl("set_", &set_empty_);
  m.impl("set_.source_Tensor", &at::native::set_tensor_);
  m.impl("set_.source_Storage", &at::native::set_);
  m.impl("set_.source_Storage_storage_offset", &at::native::set_storage_cpu_);
  m.impl("record_stream", &record_stream);
  m.impl("_has_compatible_shallow_copy_type", &has_compatible_shallow_copy_type);
  m.impl("convolution_overrideable", &convolution_overrideable);
  m.impl("convolution_backward_overrideable", &convolution_backward_overrideable);
  // `convolution` picks the overrideable form for devices that it doesn't know.
  for (const char* op : {"_convolution", "convolution", "convolution_backward"}) {
    m.impl(op, torch::CppFunction::makeFromBoxedFunction<&fallback>());
  }
}

} // namespace emulated
