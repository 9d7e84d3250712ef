// The kernel of every operator that has none of its own: it runs the CPU's.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace emulated {

void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack);

// Gives the fallback to operators that have a CPU kernel and a composite one, which would otherwise
// come first: one crossing instead of many, and bit for bit the CPU's result. Call once, after
// all static registrations.
void prefer_cpu_kernels();

} // namespace emulated
