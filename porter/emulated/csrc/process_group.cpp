#include "process_group.h"

#include "lowering.h"
#include "trace.h"
#include "work.h"

#include <utility>

namespace emulated {
namespace {

using at::Tensor;
using c10d::Backend;
using Tensors = std::vector<Tensor>;
using TensorLists = std::vector<Tensors>;
using WorkPtr = c10::intrusive_ptr<c10d::Work>;

Tensor lower(const Tensor& tensor) {
  TORCH_CHECK(
      tensor.device().type() == kDevice,
      "No backend type associated with device type ", tensor.device().type(),
      ": ", kProcessGroup, " carries " EMULATED_NAME " tensors (emulated)");
  return cpu_view(tensor);
}

Tensors lower(const Tensors& tensors) {
  Tensors lowered;
  lowered.reserve(tensors.size());
  for (const auto& tensor : tensors) {
    lowered.push_back(lower(tensor));
  }
  return lowered;
}

TensorLists lower(const TensorLists& lists) {
  TensorLists lowered;
  lowered.reserve(lists.size());
  for (const auto& list : lists) {
    lowered.push_back(lower(list));
  }
  return lowered;
}

// For collectives that, as hccl and nccl do, take any shape of the right number of elements; gloo
// divides along the first dimension.
Tensor lower_flat(const Tensor& tensor) {
  return lower(tensor).view({-1});
}

Tensors lower_flat(const Tensors& tensors) {
  Tensors lowered;
  lowered.reserve(tensors.size());
  for (const auto& tensor : tensors) {
    lowered.push_back(lower_flat(tensor));
  }
  return lowered;
}

Tensors flat(const TensorLists& lists) {
  Tensors all;
  for (const auto& list : lists) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

// Runs a reduction. gloo has no mean: it is made of the sum, before the call returns. A scattered
// reduction is waited for as well, because gloo writes its output in wait(), at every wait.
template <class Options, class Run>
WorkPtr reduce(
    c10d::OpType type, Options options, Tensors outputs, int size, bool scatter, const Run& run) {
  const bool mean = options.reduceOp == c10d::ReduceOp::AVG;
  if (mean) {
    options.reduceOp = c10d::ReduceOp::SUM;
  }
  auto gloo = run(options);
  if (!mean && !scatter) {
    return wrap(std::move(gloo), type, std::move(outputs));
  }
  gloo->wait();
  if (mean) {
    const BelowDispatch below;
    for (const auto& output : outputs) {
      cpu_view(output).div_(size);
    }
  }
  return wrap({}, type, std::move(outputs));
}

class DeviceProcessGroup final : public Backend {
 public:
  explicit DeviceProcessGroup(c10::intrusive_ptr<Backend> gloo)
      : Backend(gloo->getRank(), gloo->getSize()), gloo_(std::move(gloo)) {}

  const std::string getBackendName() const override {
    return kProcessGroup;
  }

  c10::intrusive_ptr<Options> getBackendOptions() override {
    return gloo_->getBackendOptions();
  }

  void setTimeout(std::chrono::milliseconds timeout) override {
    gloo_->setTimeout(timeout);
  }

  void setSequenceNumberForGroup() override {
    gloo_->setSequenceNumberForGroup();
  }

  uint64_t getSequenceNumberForGroup() override {
    return gloo_->getSequenceNumberForGroup();
  }

  WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override {
    auto cpu = lower(tensors);
    return wrap(gloo_->broadcast(cpu, options), c10d::OpType::BROADCAST, tensors);
  }

  WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override {
    auto cpu = lower(tensors);
    return emulated::reduce(
        c10d::OpType::ALLREDUCE, options, tensors, size_, false,
        [&](const auto& adapted) { return gloo_->allreduce(cpu, adapted); });
  }

  WorkPtr allreduce_coalesced(
      Tensors& tensors, const c10d::AllreduceCoalescedOptions& options) override {
    auto cpu = lower(tensors);
    return emulated::reduce(
        c10d::OpType::ALLREDUCE_COALESCED, options, tensors, size_, false,
        [&](const auto& adapted) { return gloo_->allreduce_coalesced(cpu, adapted); });
  }

  WorkPtr reduce(Tensors& tensors, const c10d::ReduceOptions& options) override {
    auto cpu = lower(tensors);
    const auto outputs = options.rootRank == rank_ ? tensors : Tensors{};
    return emulated::reduce(
        c10d::OpType::REDUCE, options, outputs, size_, false,
        [&](const auto& adapted) { return gloo_->reduce(cpu, adapted); });
  }

  WorkPtr allgather(
      TensorLists& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) override {
    auto cpu_outputs = lower(outputs);
    auto cpu_inputs = lower(inputs);
    return wrap(
        gloo_->allgather(cpu_outputs, cpu_inputs, options), c10d::OpType::ALLGATHER, flat(outputs));
  }

  WorkPtr _allgather_base(
      Tensor& output, Tensor& input, const c10d::AllgatherOptions& options) override {
    auto cpu_output = lower_flat(output);
    auto cpu_input = lower_flat(input);
    return wrap(
        gloo_->_allgather_base(cpu_output, cpu_input, options), c10d::OpType::_ALLGATHER_BASE,
        {output});
  }

  WorkPtr allgather_into_tensor_coalesced(
      Tensors& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) override {
    auto cpu_outputs = lower_flat(outputs);
    auto cpu_inputs = lower_flat(inputs);
    return wrap(
        gloo_->allgather_into_tensor_coalesced(cpu_outputs, cpu_inputs, options),
        c10d::OpType::COALESCED, outputs);
  }

  WorkPtr gather(
      TensorLists& outputs, Tensors& inputs, const c10d::GatherOptions& options) override {
    auto cpu_outputs = lower(outputs);
    auto cpu_inputs = lower(inputs);
    return wrap(
        gloo_->gather(cpu_outputs, cpu_inputs, options), c10d::OpType::GATHER, flat(outputs));
  }

  WorkPtr scatter(
      Tensors& outputs, TensorLists& inputs, const c10d::ScatterOptions& options) override {
    auto cpu_outputs = lower(outputs);
    auto cpu_inputs = lower(inputs);
    return wrap(gloo_->scatter(cpu_outputs, cpu_inputs, options), c10d::OpType::SCATTER, outputs);
  }

  WorkPtr reduce_scatter(
      Tensors& outputs, TensorLists& inputs, const c10d::ReduceScatterOptions& options) override {
    auto cpu_outputs = lower(outputs);
    auto cpu_inputs = lower(inputs);
    return emulated::reduce(
        c10d::OpType::REDUCE_SCATTER, options, outputs, size_, true,
        [&](const auto& adapted) {
          return gloo_->reduce_scatter(cpu_outputs, cpu_inputs, adapted);
        });
  }

  WorkPtr _reduce_scatter_base(
      Tensor& output, Tensor& input, const c10d::ReduceScatterOptions& options) override {
    auto cpu_output = lower_flat(output);
    auto cpu_input = lower_flat(input);
    return emulated::reduce(
        c10d::OpType::_REDUCE_SCATTER_BASE, options, Tensors{output}, size_, true,
        [&](const auto& adapted) {
          return gloo_->_reduce_scatter_base(cpu_output, cpu_input, adapted);
        });
  }

  WorkPtr reduce_scatter_tensor_coalesced(
      Tensors& outputs, Tensors& inputs, const c10d::ReduceScatterOptions& options) override {
    auto cpu_outputs = lower_flat(outputs);
    auto cpu_inputs = lower_flat(inputs);
    return emulated::reduce(
        c10d::OpType::REDUCE_SCATTER_TENSOR_COALESCED, options, outputs, size_, true,
        [&](const auto& adapted) {
          return gloo_->reduce_scatter_tensor_coalesced(cpu_outputs, cpu_inputs, adapted);
        });
  }

  WorkPtr alltoall_base(
      Tensor& output,
      Tensor& input,
      std::vector<int64_t>& output_sizes,
      std::vector<int64_t>& input_sizes,
      const c10d::AllToAllOptions& options) override {
    auto cpu_output = lower(output);
    auto cpu_input = lower(input);
    return wrap(
        gloo_->alltoall_base(cpu_output, cpu_input, output_sizes, input_sizes, options),
        c10d::OpType::ALLTOALL_BASE, {output});
  }

  WorkPtr alltoall(
      Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& options) override {
    auto cpu_outputs = lower(outputs);
    auto cpu_inputs = lower(inputs);
    return wrap(gloo_->alltoall(cpu_outputs, cpu_inputs, options), c10d::OpType::ALLTOALL, outputs);
  }

  WorkPtr send(Tensors& tensors, int rank, int tag) override {
    auto cpu = lower(tensors);
    return wrap(gloo_->send(cpu, rank, tag), c10d::OpType::SEND, tensors);
  }

  WorkPtr recv(Tensors& tensors, int rank, int tag) override {
    auto cpu = lower(tensors);
    return wrap(gloo_->recv(cpu, rank, tag), c10d::OpType::RECV, tensors);
  }

  WorkPtr recvAnysource(Tensors& tensors, int tag) override {
    auto cpu = lower(tensors);
    return wrap(gloo_->recvAnysource(cpu, tag), c10d::OpType::RECVANYSOURCE, tensors);
  }

  WorkPtr barrier(const c10d::BarrierOptions& options) override {
    trace("BARRIER");
    return gloo_->barrier(options);
  }

 private:
  c10::intrusive_ptr<Backend> gloo_;
};

} // namespace

c10::intrusive_ptr<c10d::Backend> make_process_group(
    const c10::intrusive_ptr<c10d::Backend>& gloo) {
  return c10::make_intrusive<DeviceProcessGroup>(gloo);
}

} // namespace emulated
