#include "hooks.h"

#include "memory.h"
#include "trace.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/TensorImpl.h>

#include <array>
#include <mutex>

namespace emulated {
namespace {

// A generator of the device that forwards to a CPU generator of its own, because the CPU's kernels
// draw the numbers.
struct DeviceGenerator final : c10::GeneratorImpl {
  DeviceGenerator(c10::DeviceIndex index, at::Generator engine)
      : GeneratorImpl(c10::Device(kDevice, index), c10::DispatchKeySet(kBackendKey)),
        engine_(std::move(engine)) {}

  void set_current_seed(uint64_t seed) override {
    trace("seed ", device(), " ", seed);
    engine_.set_current_seed(seed);
  }

  void set_offset(uint64_t) override {
    refuse_offset();
  }

  uint64_t get_offset() const override {
    refuse_offset();
  }

  uint64_t current_seed() const override {
    return engine_.current_seed();
  }

  uint64_t seed() override {
    trace("seed at random ", device());
    return engine_.seed();
  }

  void set_state(const c10::TensorImpl& state) override {
    trace("set random state ", device());
    engine_.unsafeGetGeneratorImpl()->set_state(state);
  }

  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    trace("get random state ", device());
    return engine_.unsafeGetGeneratorImpl()->get_state();
  }

  const at::Generator& engine() const {
    return engine_;
  }

 private:
  [[noreturn]] static void refuse_offset() {
    TORCH_CHECK_NOT_IMPLEMENTED(
        false, "The generator of the emulated " EMULATED_NAME " device has no offset");
  }

  DeviceGenerator* clone_impl() const override {
    return new DeviceGenerator(device().index(), engine_.clone());
  }

  at::Generator engine_;
};

at::Generator new_generator(c10::DeviceIndex index) {
  const auto resolved = index < 0 ? current_device() : index;
  check_device(resolved);
  return at::make_generator<DeviceGenerator>(resolved, at::detail::createCPUGenerator());
}

#ifdef EMULATED_CUDA
using HooksInterface = at::CUDAHooksInterface;
#else
using HooksInterface = at::PrivateUse1HooksInterface;
#endif

struct Hooks final : HooksInterface {
#ifdef EMULATED_CUDA
  explicit Hooks(at::CUDAHooksArgs) {}
#endif

  bool isBuilt() const override {
    return true;
  }

  bool isAvailable() const override {
    return device_count() > 0;
  }

  bool hasPrimaryContext(c10::DeviceIndex) const override {
    return is_initialized();
  }

  void init() const override {
    use_device();
  }

  c10::DeviceIndex deviceCount() const override {
    return device_count();
  }

  c10::DeviceIndex getCurrentDevice() const override {
    return current_device();
  }

  void setCurrentDevice(c10::DeviceIndex index) const override {
    set_current_device(index);
  }

  c10::DeviceIndex exchangeDevice(c10::DeviceIndex index) const override {
    const auto previous = current_device();
    set_current_device(index);
    return previous;
  }

  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex index) const override {
    return index < 0 ? current_device() : exchangeDevice(index);
  }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex index) const override {
    return default_generator(index);
  }

  at::Generator getNewGenerator(c10::DeviceIndex index) const override {
    return new_generator(index);
  }

  c10::Allocator* getPinnedMemoryAllocator() const override {
    return pinned_allocator();
  }

  bool isPinnedPtr(const void* data) const override {
    return is_pinned(data);
  }

#ifdef EMULATED_CUDA
  bool hasCUDA() const override {
    return true;
  }

  c10::DeviceIndex current_device() const override {
    return emulated::current_device();
  }

  int getNumGPUs() const override {
    return device_count();
  }

  c10::Allocator* getCUDADeviceAllocator() const override {
    return device_allocator();
  }

  std::string showConfig() const override {
    return "  - CUDA is emulated on the CPU\n";
  }
#else
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    resize(storage, bytes);
  }
#endif
};

#ifndef EMULATED_CUDA
const bool registered = (at::RegisterPrivateUse1HooksInterface(new Hooks), true);
#endif

} // namespace

const at::Generator& default_generator(c10::DeviceIndex index) {
  static auto* generators = new std::array<at::Generator, kMaxDevices>;
  static std::mutex creating;
  const auto resolved = index < 0 ? current_device() : index;
  check_device(resolved);
  const std::lock_guard<std::mutex> lock(creating);
  auto& generator = generators->at(resolved);
  if (!generator.defined()) {
    generator = new_generator(resolved);
    cpu_generator(generator).seed();
  }
  return generator;
}

at::Generator cpu_generator(const at::Generator& generator) {
  return static_cast<DeviceGenerator*>(generator.unsafeGetGeneratorImpl())->engine();
}

} // namespace emulated

#ifdef EMULATED_CUDA
namespace at {
// torch asks for these once, while torch._C loads: this library must be loaded before.
C10_REGISTER_CLASS(CUDAHooksRegistry, CUDAHooks, emulated::Hooks)
} // namespace at
#endif
