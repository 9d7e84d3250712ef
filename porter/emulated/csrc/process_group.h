// The process group backend "hccl", or "nccl": gloo on the memory of the emulated devices.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>

namespace emulated {

// Wraps a gloo backend of the same rank and size.
c10::intrusive_ptr<c10d::Backend> make_process_group(const c10::intrusive_ptr<c10d::Backend>& gloo);

} // namespace emulated
