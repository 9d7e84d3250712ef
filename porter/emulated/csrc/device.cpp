#include "device.h"

#include "visible_devices.h"

#include <c10/util/Exception.h>
#include <pthread.h>
#include <torch/csrc/utils/device_lazy_init.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

namespace emulated {
namespace {

std::atomic<bool> initialized{false};
std::atomic<bool> bad_fork{false};
std::atomic<int> frozen_count{-1};
thread_local c10::DeviceIndex current = 0;

void after_fork_in_child() {
  if (initialized) {
    bad_fork = true;
    initialized = false;
    torch::utils::set_requires_device_init(kDevice, true);
  }
}

int physical_count() {
  const char* text = std::getenv(EMULATED_VARIABLE("DEVICES"));
  if (text == nullptr || *text == '\0') {
    return 1;
  }
  char* end = nullptr;
  const long count = std::strtol(text, &end, 10);
  TORCH_CHECK(
      *end == '\0' && count >= 0 && count <= kMaxDevices,
      EMULATED_VARIABLE("DEVICES") " must be a number from 0 to ", int{kMaxDevices}, ", not '",
      text, "'");
  return static_cast<int>(count);
}

} // namespace

c10::DeviceIndex device_count() {
  const int frozen = frozen_count;
  return static_cast<c10::DeviceIndex>(frozen >= 0 ? frozen : visible_count(physical_count()));
}

void use_device() {
  if (initialized) {
    return;
  }
  TORCH_CHECK(
      !bad_fork,
      "Cannot re-initialize " EMULATED_NAME " in forked subprocess. To use " EMULATED_NAME
      " with multiprocessing, you must use the 'spawn' start method");
  const int count = device_count();
  TORCH_CHECK(
      count > 0,
      "No emulated " EMULATED_NAME " device is visible: " EMULATED_VARIABLE("DEVICES")
      " or " EMULATED_VISIBLE_DEVICES " leaves none");
  static const int registered = pthread_atfork(nullptr, nullptr, &after_fork_in_child);
  TORCH_CHECK(registered == 0, "pthread_atfork failed");
  frozen_count = count;
  initialized = true;
}

bool is_initialized() {
  return initialized;
}

bool is_in_bad_fork() {
  return bad_fork;
}

c10::DeviceIndex current_device() {
  return current;
}

void check_device(c10::DeviceIndex index) {
  const auto count = device_count();
  TORCH_CHECK(
      index >= 0 && index < count,
      "Invalid " EMULATED_NAME " device index ", int{index}, ": ", int{count}, " emulated device(s) visible");
}

void set_current_device(c10::DeviceIndex index) {
  check_device(index);
  current = index;
}

bool is_strict() {
  static const bool strict = [] {
    const char* text = std::getenv(EMULATED_VARIABLE("STRICT"));
    return text != nullptr && std::string_view(text) == "1";
  }();
  return strict;
}

} // namespace emulated
