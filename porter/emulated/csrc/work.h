// Work of the process group.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include <vector>

namespace emulated {

// gloo's work, with the device's tensors as its results in place of the CPU's views of them; none
// where the work is done already.
c10::intrusive_ptr<c10d::Work> wrap(
    c10::intrusive_ptr<c10d::Work> gloo, c10d::OpType type, std::vector<at::Tensor> outputs);

} // namespace emulated
