// What tells the two devices apart that these sources build: the emulated NPU and, with
// EMULATED_CUDA defined, the emulated CUDA. Dispatch keys are macros because torch's are.
#pragma once

#include <c10/core/DeviceType.h>
#include <c10/core/DispatchKey.h>

#ifdef EMULATED_CUDA
#define EMULATED_KEY CUDA
#define EMULATED_AUTOGRAD_KEY AutogradCUDA
#define EMULATED_NAME "CUDA"
#define EMULATED_VISIBLE_DEVICES "CUDA_VISIBLE_DEVICES"
#else
#define EMULATED_KEY PrivateUse1
#define EMULATED_AUTOGRAD_KEY AutogradPrivateUse1
#define EMULATED_NAME "NPU"
#define EMULATED_VISIBLE_DEVICES "ASCEND_RT_VISIBLE_DEVICES"
#endif

// A variable of the environment, as in EMULATED_NPU_DEVICES.
#define EMULATED_VARIABLE(name) "EMULATED_" EMULATED_NAME "_" name

namespace emulated {

constexpr c10::DeviceType kDevice = c10::DeviceType::EMULATED_KEY;
constexpr c10::DispatchKey kBackendKey = c10::DispatchKey::EMULATED_KEY;
#ifdef EMULATED_CUDA
constexpr const char* kType = "cuda";
constexpr const char* kProcessGroup = "nccl";
#else
constexpr const char* kType = "npu";
constexpr const char* kProcessGroup = "hccl";
#endif

} // namespace emulated
