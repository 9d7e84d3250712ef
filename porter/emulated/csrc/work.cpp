#include "work.h"

#include "device.h"
#include "trace.h"

#include <ATen/core/ivalue.h>
#include <torch/csrc/distributed/c10d/reducer_timer.hpp>

#include <atomic>
#include <mutex>
#include <utility>

namespace emulated {
namespace {

using Tensors = std::vector<at::Tensor>;
using WorkPtr = c10::intrusive_ptr<c10d::Work>;
using FuturePtr = c10::intrusive_ptr<c10::ivalue::Future>;

class DeviceWork final : public c10d::Work {
 public:
  DeviceWork(WorkPtr gloo, c10d::OpType type, Tensors outputs)
      : Work(-1, type), gloo_(std::move(gloo)), done_(!gloo_), outputs_(std::move(outputs)) {
    std::vector<c10::Device> devices;
    if (!outputs_.empty()) {
      devices.push_back(outputs_.front().device());
    }
    future_ = c10::make_intrusive<c10::ivalue::Future>(
        c10::ListType::create(c10::TensorType::get()), std::move(devices));
    if (done_) {
      future_->markCompleted(c10::IValue(outputs_));
    } else {
      complete_with_gloo();
    }
  }

  bool isCompleted() override {
    return done_ || gloo_->isCompleted();
  }

  bool isSuccess() const override {
    return done_ || gloo_->isSuccess();
  }

  std::exception_ptr exception() const override {
    return done_ ? nullptr : gloo_->exception();
  }

  int sourceRank() const override {
    return gloo_->sourceRank();
  }

  Tensors result() override {
    return outputs_;
  }

  void synchronize() override {
    wait(kNoTimeout);
  }

  bool wait(std::chrono::milliseconds timeout) override {
    const std::lock_guard<std::mutex> lock(waiting_);
    if (!done_) {
      done_ = gloo_->wait(timeout);
    }
    return done_;
  }

  void blockCurrentStream() override {
    wait(kNoTimeout);
  }

  void abort() override {
    if (gloo_) {
      gloo_->abort();
    }
  }

  FuturePtr getFuture() override {
    return future_;
  }

 private:
  void complete_with_gloo() {
    FuturePtr finished;
    try {
      finished = gloo_->getFuture();
    } catch (const c10::Error&) {
      return; // point-to-point work has no future
    }
    finished->addCallback([future = future_, outputs = outputs_](c10::ivalue::Future& gloo) {
      if (gloo.hasError()) {
        future->setError(gloo.exception_ptr());
      } else {
        future->markCompleted(c10::IValue(outputs));
      }
    });
  }

  WorkPtr gloo_;
  std::mutex waiting_;
  std::atomic<bool> done_;
  Tensors outputs_;
  FuturePtr future_;
};

// DDP measures its phases with this; nothing is asynchronous, so the host's clock is right.
class HostTimer final : public c10d::Timer {
 public:
  explicit HostTimer(c10::Device) {}

  std::optional<int64_t> measureDifference(Event start, Event end) override {
    const auto from = getTimestamp(start);
    const auto to = getTimestamp(end);
    return from && to && *to >= *from ? std::optional(*to - *from) : std::nullopt;
  }
};

} // namespace

WorkPtr wrap(WorkPtr gloo, c10d::OpType type, Tensors outputs) {
  trace(c10d::opTypeToString(type), " on ", outputs.size(), " tensor(s)");
  return c10::make_intrusive<DeviceWork>(std::move(gloo), type, std::move(outputs));
}

} // namespace emulated

namespace c10d {
C10_REGISTER_TYPED_CLASS(TimerRegistry, emulated::kDevice, emulated::HostTimer)
} // namespace c10d
