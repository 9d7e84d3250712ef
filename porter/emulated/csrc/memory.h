// Device memory: host memory that is accounted for per emulated device.
#pragma once

#include "device.h"

#include <c10/core/Allocator.h>
#include <c10/core/Storage.h>

namespace emulated {

// Takes a CPU storage over as memory of a device, without a copy; throws OutOfMemoryError when the
// device's limit doesn't allow it.
c10::DataPtr adopt(c10::intrusive_ptr<c10::StorageImpl> cpu, c10::DeviceIndex index);

// Changes the size of a device's storage, which keeps what fits of its content.
void resize(const c10::Storage& storage, size_t bytes);

c10::Allocator* device_allocator();
c10::Allocator* pinned_allocator();
bool is_pinned(const void* pointer);

size_t total_memory();
void set_memory_limit(c10::DeviceIndex index, size_t bytes);
size_t memory_limit(c10::DeviceIndex index);

} // namespace emulated
