// The state of the emulated devices: how many there are, which is current, whether any was used.
#pragma once

#include "backend.h"

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

namespace emulated {

constexpr c10::DeviceIndex kMaxDevices = 64;

// Devices that this process may use: EMULATED_NPU_DEVICES (or EMULATED_CUDA_DEVICES), cut down by
// the vendor's variable. Both are read anew at each call until the first use of a device freezes
// the answer.
c10::DeviceIndex device_count();

// Marks the runtime as initialized. Throws without devices and in a process forked after first use.
void use_device();
bool is_initialized();
bool is_in_bad_fork();

c10::DeviceIndex current_device();
void set_current_device(c10::DeviceIndex index);
void check_device(c10::DeviceIndex index);

// Whether EMULATED_NPU_STRICT asks to refuse what Ascend hardware refuses.
bool is_strict();

// Milliseconds between two recorded events, given as torch.Event's event_id.
double elapsed_ms(int64_t start, int64_t end);

} // namespace emulated
