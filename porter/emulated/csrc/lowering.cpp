#include "lowering.h"

#include "memory.h"

#include <c10/core/CPUAllocator.h>

namespace emulated {
namespace {

c10::Storage host_storage(const c10::Storage& device, c10::DataPtr data) {
  return c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), device.nbytes(), std::move(data),
      c10::GetCPUAllocator(), /*resizable=*/true);
}

c10::intrusive_ptr<c10::StorageImpl> owned(const c10::Storage& storage) {
  return c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(storage.unsafeGetStorageImpl());
}

at::Tensor tensor_over(const c10::Storage& storage, c10::DispatchKey key, const at::Tensor& like) {
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(
      c10::Storage(storage), c10::DispatchKeySet(key), like.dtype());
  auto* impl = tensor.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(like.sizes(), like.strides(), like.storage_offset());
  if (like.is_conj()) {
    impl->_set_conj(true);
  }
  if (like.is_neg()) {
    impl->_set_neg(true);
  }
  return tensor;
}

void demand_dense(const at::Tensor& tensor, const std::string& name) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      tensor.layout() == c10::kStrided && !tensor.is_quantized(),
      name, ": the emulated " EMULATED_NAME " device has only dense tensors, not ", tensor.layout());
}

} // namespace

at::Tensor cpu_view(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.device().type() != kDevice) {
    return tensor;
  }
  demand_dense(tensor, "cpu_view");
  auto* owner = new c10::Storage(tensor.storage());
  c10::DataPtr data(
      owner->mutable_data(), owner,
      [](void* context) { delete static_cast<c10::Storage*>(context); },
      c10::Device(c10::DeviceType::CPU));
  return tensor_over(host_storage(*owner, std::move(data)), c10::DispatchKey::CPU, tensor);
}

BelowDispatch::BelowDispatch()
    : guard_(
          c10::autograd_dispatch_keyset_with_ADInplaceOrView |
          c10::autocast_dispatch_keyset) {}

void Lowering::see(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.device().type() != kDevice) {
    return;
  }
  const auto index = tensor.device().index();
  TORCH_CHECK(
      !seen_ || index == index_,
      "Expected all tensors to be on the same device, but found at least two devices, ", kType,
      ":", int{index_}, " and ", kType, ":", int{index}, "! (when calling ", name_, ")");
  seen_ = true;
  index_ = index;
}

at::Tensor Lowering::lower(const at::Tensor& tensor, bool cpu_allowed) {
  if (!tensor.defined()) {
    return tensor;
  }
  if (tensor.device().type() != kDevice) {
    const bool number = tensor.unsafeGetTensorImpl()->is_wrapped_number();
    TORCH_CHECK(
        tensor.device().is_cpu() && (number || cpu_allowed || !seen_),
        "Expected all tensors to be on the same device, but found at least two devices, ",
        kType, ":", int{index_}, " and ", tensor.device(), "! (when calling ", name_, ")");
    return tensor;
  }
  demand_dense(tensor, name_);
  auto cpu = tensor_over(lower(tensor.storage()), c10::DispatchKey::CPU, tensor);
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    cpu.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  arguments_.push_back({tensor, cpu});
  return cpu;
}

at::Tensor Lowering::raise(const at::Tensor& cpu) {
  if (!cpu.defined()) {
    return cpu;
  }
  for (const auto& argument : arguments_) {
    if (argument.cpu.is_same(cpu)) {
      return argument.device;
    }
  }
  demand_dense(cpu, name_);
  return tensor_over(raise(cpu.storage()), kBackendKey, cpu);
}

void Lowering::write_back() {
  for (auto& memory : memories_) {
    if (memory.cpu.data() != memory.device.data() ||
        memory.cpu.nbytes() != memory.device.nbytes()) {
      auto cpu = owned(memory.cpu);
      memory.device.set_data_ptr_noswap(adopt(cpu, index_));
      memory.device.set_nbytes(cpu->nbytes());
    }
  }
  for (auto& [device, cpu] : arguments_) {
    if (device.sizes() != cpu.sizes() || device.strides() != cpu.strides() ||
        device.storage_offset() != cpu.storage_offset()) {
      device.unsafeGetTensorImpl()->set_sizes_and_strides(
          cpu.sizes(), cpu.strides(), cpu.storage_offset());
    }
  }
}

c10::Storage Lowering::lower(const c10::Storage& device) {
  for (const auto& memory : memories_) {
    if (memory.device.is_alias_of(device)) {
      return memory.cpu;
    }
  }
  // Not owning: `memories_` keeps the device's storage for the duration of the call.
  auto cpu = host_storage(
      device, {const_cast<void*>(device.data()), c10::Device(c10::DeviceType::CPU)});
  memories_.push_back({device, cpu});
  return cpu;
}

c10::Storage Lowering::raise(const c10::Storage& cpu) {
  for (const auto& memory : memories_) {
    if (memory.cpu.is_alias_of(cpu)) {
      return memory.device;
    }
  }
  auto owner = owned(cpu);
  c10::Storage device(c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), cpu.nbytes(), adopt(std::move(owner), index_),
      device_allocator(), /*resizable=*/true));
  memories_.push_back({device, cpu});
  return device;
}

} // namespace emulated
