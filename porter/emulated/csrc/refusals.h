// Where the emulated device says no although the CPU's kernel would do it.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <string>

namespace emulated {

// Whether an operator's argument may be a CPU tensor beside device tensors: as on CUDA, a
// 0-dim operand of elementwise arithmetic, and the indices of advanced indexing.
bool takes_cpu_tensor(const std::string& op, const std::string& argument, const at::Tensor& tensor);

// Strict mode: throws for work that Ascend hardware doesn't do.
void refuse_unsupported(const c10::FunctionSchema& schema, at::ArrayRef<c10::IValue> arguments);

} // namespace emulated
