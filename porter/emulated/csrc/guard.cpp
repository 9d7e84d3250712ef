// Device guard, streams and events. Everything runs synchronously, so a stream is only an identity
// and an event only a time stamp.
#include "device.h"
#include "trace.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <array>
#include <atomic>
#include <chrono>

namespace emulated {
namespace {

struct Event {
  std::chrono::steady_clock::time_point time;
};

std::atomic<c10::StreamId> last_stream{0};
thread_local std::array<c10::StreamId, kMaxDevices> current_streams{};

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override {
    return kDevice;
  }

  c10::Device exchangeDevice(c10::Device device) const override {
    const auto previous = getDevice();
    setDevice(device);
    return previous;
  }

  c10::Device getDevice() const override {
    return {kDevice, current_device()};
  }

  void setDevice(c10::Device device) const override {
    TORCH_INTERNAL_ASSERT(device.type() == kDevice);
    if (device.has_index()) {
      set_current_device(device.index());
    }
  }

  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.index() >= 0 && device.index() < device_count()) {
      set_current_device(device.index());
    }
  }

  c10::DeviceIndex deviceCount() const noexcept override {
    return device_count();
  }

  c10::Stream getStream(c10::Device device) const override {
    const auto resolved = resolve(device);
    return c10::Stream(
        c10::Stream::UNSAFE, resolved, current_streams.at(resolved.index()));
  }

  c10::Stream getDefaultStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT, resolve(device));
  }

  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    return getNewStream(device, 0);
  }

  c10::Stream getNewStream(c10::Device device, int) const override {
    use_device();
    trace("new stream ", resolve(device));
    return c10::Stream(c10::Stream::UNSAFE, resolve(device), ++last_stream);
  }

  c10::Stream exchangeStream(c10::Stream stream) const override {
    const auto previous = getStream(stream.device());
    trace("current stream ", stream);
    current_streams.at(stream.device_index()) = stream.id();
    return previous;
  }

  void* getStreamNativeHandle(const c10::Stream stream) const override {
    return reinterpret_cast<void*>(stream.id());
  }

  bool queryStream(const c10::Stream&) const override {
    return true;
  }

  void synchronizeStream(const c10::Stream& stream) const override {
    trace("synchronize ", stream);
  }

  void synchronizeDevice(const c10::DeviceIndex index) const override {
    check_device(index);
    trace("synchronize ", c10::Device(kDevice, index));
  }

  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex, const c10::EventFlag)
      const override {
    trace("record event on ", stream);
    if (*event == nullptr) {
      *event = new Event;
    }
    static_cast<Event*>(*event)->time = std::chrono::steady_clock::now();
  }

  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override {
    delete static_cast<Event*>(event);
  }

  void block(void*, const c10::Stream& stream) const override {
    trace("wait for event on ", stream);
  }

  bool queryEvent(void*) const override {
    return true;
  }

  void synchronizeEvent(void*) const override {
    trace("synchronize event");
  }

  double elapsedTime(void* start, void* end, const c10::DeviceIndex) const override {
    TORCH_CHECK(
        start != nullptr && end != nullptr, "Both events must be recorded before elapsed_time()");
    const auto passed = static_cast<Event*>(end)->time - static_cast<Event*>(start)->time;
    return std::chrono::duration<double, std::milli>(passed).count();
  }

 private:
  static c10::Device resolve(c10::Device device) {
    return {kDevice, device.has_index() ? device.index() : current_device()};
  }
};

C10_REGISTER_GUARD_IMPL(EMULATED_KEY, Guard)

} // namespace

double elapsed_ms(int64_t start, int64_t end) {
  return c10::impl::getDeviceGuardImpl(kDevice)->elapsedTime(
      reinterpret_cast<void*>(start), reinterpret_cast<void*>(end), 0);
}

} // namespace emulated
