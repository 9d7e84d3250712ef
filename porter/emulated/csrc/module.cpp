// What the Python side needs of the extension.
#include "device.h"
#include "fallback.h"
#include "hooks.h"
#include "memory.h"
#include "process_group.h"
#include "trace.h"

#include <torch/csrc/utils/pybind.h>

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  emulated::prefer_cpu_kernels();
  m.def("init", &emulated::use_device);
  m.def("is_initialized", &emulated::is_initialized);
  m.def("is_in_bad_fork", &emulated::is_in_bad_fork);
  m.def("is_strict", &emulated::is_strict);
  m.def("device_count", [] { return int{emulated::device_count()}; });
  m.def("current_device", [] { return int{emulated::current_device()}; });
  m.def("set_device", [](int index) {
    emulated::trace("set device ", index);
    emulated::set_current_device(static_cast<c10::DeviceIndex>(index));
  });
  m.def("default_generator", [](int index) {
    return emulated::default_generator(static_cast<c10::DeviceIndex>(index));
  });
  m.def("elapsed_ms", &emulated::elapsed_ms);
  m.def("total_memory", &emulated::total_memory);
  m.def("memory_limit", [](int index) {
    return emulated::memory_limit(static_cast<c10::DeviceIndex>(index));
  });
  m.def("set_memory_limit", [](int index, size_t bytes) {
    emulated::set_memory_limit(static_cast<c10::DeviceIndex>(index), bytes);
  });
  m.def("resize_storage", [](const c10::Storage& storage, size_t bytes) {
    emulated::resize(storage, bytes);
  });
  m.def("process_group", &emulated::make_process_group, py::arg("gloo"));
}
