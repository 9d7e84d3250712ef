#include "hooks.h"

#include "memory.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/TensorImpl.h>

#include <algorithm>
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
    engine_.set_current_seed(seed);
  }

  void set_offset(uint64_t) override {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "The emulated NPU's generator has no offset");
  }

  uint64_t get_offset() const override {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "The emulated NPU's generator has no offset");
  }

  uint64_t current_seed() const override {
    return engine_.current_seed();
  }

  uint64_t seed() override {
    return engine_.seed();
  }

  void set_state(const c10::TensorImpl& state) override {
    engine_.unsafeGetGeneratorImpl()->set_state(state);
  }

  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    return engine_.unsafeGetGeneratorImpl()->get_state();
  }

  const at::Generator& engine() const {
    return engine_;
  }

 private:
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

struct Hooks final : at::PrivateUse1HooksInterface {
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

  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    const auto old = storage.nbytes();
    const c10::DeviceGuard guard(storage.device());
    auto data = storage.allocator()->allocate(bytes);
    if (old > 0 && bytes > 0) {
      storage.allocator()->copy_data(data.get(), storage.data(), std::min(old, bytes));
    }
    storage.set_data_ptr_noswap(std::move(data));
    storage.set_nbytes(bytes);
  }
};

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
    generator.seed();
  }
  return generator;
}

at::Generator cpu_generator(const at::Generator& generator) {
  return static_cast<DeviceGenerator*>(generator.unsafeGetGeneratorImpl())->engine();
}

void register_hooks() {
  static auto* hooks = new Hooks;
  at::RegisterPrivateUse1HooksInterface(hooks);
}

} // namespace emulated
