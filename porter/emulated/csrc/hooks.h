// Random number generators of the emulated devices. hooks.cpp also has the hooks through which torch
// finds them, pinned memory and more.
#pragma once

#include "device.h"

#include <ATen/core/Generator.h>

namespace emulated {

const at::Generator& default_generator(c10::DeviceIndex index);

// The CPU generator that drives a generator of an emulated device.
at::Generator cpu_generator(const at::Generator& generator);

} // namespace emulated
