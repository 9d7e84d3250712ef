// Which of a machine's devices a process sees.
#pragma once

namespace emulated {

// How many of `physical` devices the vendor's variable (CUDA_VISIBLE_DEVICES,
// ASCEND_RT_VISIBLE_DEVICES) leaves, read by the vendor's rules.
int visible_count(int physical);

} // namespace emulated
