// Softmax that takes half and gives single precision in one step: core torch asks CUDA for it, and
// the CPU's kernels refuse. Here the conversion is a step of its own.
#include "backend.h"
#include "fallback.h"

#include <ATen/Tensor.h>
#include <torch/library.h>

namespace emulated {
namespace {

using torch::jit::peek;
using torch::jit::Stack;

// (input, dim, half_to_float)
void forward(const c10::OperatorHandle& op, Stack* stack) {
  auto& half_to_float = peek(stack, 2, 3);
  if (half_to_float.toBool()) {
    half_to_float = false;
    auto& input = peek(stack, 0, 3);
    input = input.toTensor().to(at::kFloat);
  }
  fallback(op, stack);
}

// (grad_output, output, dim, input_dtype)
void backward(const c10::OperatorHandle& op, Stack* stack) {
  auto& type = peek(stack, 3, 4);
  const auto input_type = type.toScalarType();
  type = peek(stack, 0, 4).toTensor().scalar_type();
  fallback(op, stack);
  auto& grad_input = peek(stack, 0, 1);
  grad_input = grad_input.toTensor().to(input_type);
}

TORCH_LIBRARY_IMPL(aten, EMULATED_KEY, m) {
  for (const char* op : {"_softmax", "_log_softmax"}) {
    m.impl(op, torch::CppFunction::makeFromBoxedFunction<&forward>());
  }
  for (const char* op : {"_softmax_backward_data", "_log_softmax_backward_data"}) {
    m.impl(op, torch::CppFunction::makeFromBoxedFunction<&backward>());
  }
}

} // namespace
} // namespace emulated
