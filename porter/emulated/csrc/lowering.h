// The crossing between the device and the CPU's kernels. Device memory is host memory, so a tensor
// is lowered to a CPU tensor over the same bytes, and what a CPU kernel made is raised to the
// device without a copy.
#pragma once

#include "device.h"

#include <ATen/core/Tensor.h>
#include <c10/util/SmallVector.h>

#include <optional>

namespace emulated {

// A CPU tensor over a device tensor's memory that keeps that memory alive.
at::Tensor cpu_view(const at::Tensor& tensor);

// Keeps autograd, autocast and view tracking out while a CPU kernel runs on behalf of the device.
class BelowDispatch {
 public:
  BelowDispatch();

 private:
  c10::impl::ExcludeDispatchKeyGuard guard_;
};

// One operator call's tensors.
class Lowering {
 public:
  // `name` is the operator's, for messages; `index` the device where results go without inputs.
  Lowering(const std::string& name, c10::DeviceIndex index) : name_(name), index_(index) {}

  // Demands that every device tensor is on one device. Call for each tensor before lowering any.
  void see(const at::Tensor& tensor);

  // The CPU's stand-in for an argument. A CPU tensor passes where `cpu_allowed` says so.
  at::Tensor lower(const at::Tensor& tensor, bool cpu_allowed);

  // The device's tensor for a result: the argument itself, a view of one, or new memory.
  at::Tensor raise(const at::Tensor& cpu);

  // Carries over what the kernel did to the size or memory of written arguments.
  void write_back();

  c10::DeviceIndex index() const {
    return index_;
  }

 private:
  struct Memory {
    c10::Storage device;
    c10::Storage cpu;
  };
  struct Argument {
    at::Tensor device;
    at::Tensor cpu;
  };

  c10::Storage lower(const c10::Storage& device);
  c10::Storage raise(const c10::Storage& cpu);

  const std::string& name_;
  c10::DeviceIndex index_;
  bool seen_ = false;
  c10::SmallVector<Memory, 6> memories_;
  c10::SmallVector<Argument, 6> arguments_;
};

} // namespace emulated
