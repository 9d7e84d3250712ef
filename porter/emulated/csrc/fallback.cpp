#include "fallback.h"

#include "hooks.h"
#include "lowering.h"
#include "refusals.h"
#include "trace.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/List.h>
#include <torch/library.h>

namespace emulated {
namespace {

// The CPU's default generator has the device's state for as long as this lives: for kernels that
// draw random numbers and take no generator. They lock that generator themselves, so its lock is
// held only for the exchange.
class BorrowedEngine {
 public:
  explicit BorrowedEngine(c10::DeviceIndex index)
      : borrowing_(one_borrower()),
        device_(cpu_generator(default_generator(index))),
        cpu_(at::detail::getDefaultCPUGenerator()) {
    exchange();
  }

  ~BorrowedEngine() {
    exchange();
  }

  BorrowedEngine(const BorrowedEngine&) = delete;
  BorrowedEngine& operator=(const BorrowedEngine&) = delete;

 private:
  static std::mutex& one_borrower() {
    static std::mutex mutex;
    return mutex;
  }

  void exchange() {
    const std::lock_guard<std::mutex> lock(cpu_.mutex());
    auto* ours = device_.get<at::CPUGeneratorImpl>();
    auto* theirs = cpu_.get<at::CPUGeneratorImpl>();
    const auto state = ours->get_state();
    ours->set_state(*theirs->get_state());
    theirs->set_state(*state);
  }

  std::lock_guard<std::mutex> borrowing_;
  at::Generator device_;
  at::Generator cpu_;
};

template <class Visit>
void for_each_tensor(const c10::IValue& value, const Visit& visit) {
  if (value.isTensor()) {
    visit(value.toTensor());
  } else if (value.isList()) {
    for (const c10::IValue& item : value.toListRef()) {
      if (item.isTensor()) {
        visit(item.toTensor());
      }
    }
  }
}

template <class Map>
void map_tensors(c10::IValue& value, const Map& map) {
  if (value.isTensor()) {
    value = map(value.toTensor());
  } else if (value.isTensorList()) {
    c10::List<at::Tensor> mapped;
    for (const at::Tensor& item : value.toTensorList()) {
      mapped.push_back(map(item));
    }
    value = mapped;
  } else if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> mapped;
    for (const std::optional<at::Tensor>& item : value.toOptionalTensorList()) {
      mapped.push_back(item.has_value() ? std::optional(map(*item)) : std::nullopt);
    }
    value = mapped;
  }
}

c10::DeviceIndex requested_device(at::ArrayRef<c10::IValue> arguments) {
  for (const auto& value : arguments) {
    if (value.isDevice() && value.toDevice().type() == kDevice && value.toDevice().has_index()) {
      return value.toDevice().index();
    }
  }
  return current_device();
}

} // namespace

void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  use_device();
  const auto& schema = op.schema();
  const auto& name = schema.name();
  const auto count = schema.arguments().size();
  const auto arguments = torch::jit::last(*stack, count);
  TORCH_CHECK_NOT_IMPLEMENTED(
      op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU),
      "The emulated " EMULATED_NAME " device has no kernel for ", op.operator_name(),
      ": it runs the CPU's, and there is none");

  Lowering lowering(name, requested_device(arguments));
  for (const auto& value : arguments) {
    for_each_tensor(value, [&](const at::Tensor& tensor) { lowering.see(tensor); });
  }
  trace(op.operator_name(), " ", int{lowering.index()});
  if (is_strict()) {
    refuse_unsupported(schema, arguments);
  }

  const bool random = op.hasTag(at::Tag::nondeterministic_seeded);
  bool takes_generator = false;
  const auto first = stack->size() - count;
  for (size_t i = 0; i < count; ++i) {
    auto& value = (*stack)[first + i];
    const auto& argument = schema.arguments()[i];
    if (value.isDevice() && value.toDevice().type() == kDevice) {
      value = c10::Device(c10::DeviceType::CPU);
    } else if (value.isGenerator()) {
      TORCH_CHECK(
          value.toGenerator().device().type() == kDevice,
          "Expected a '", kType, "' device type for generator but found '",
          value.toGenerator().device(),
          "' (when calling ", name, ")");
      value = cpu_generator(value.toGenerator());
      takes_generator = true;
    } else if (value.isNone() && random && argument.name() == "generator") {
      value = cpu_generator(default_generator(lowering.index()));
      takes_generator = true;
    } else {
      map_tensors(value, [&](const at::Tensor& tensor) {
        return lowering.lower(tensor, takes_cpu_tensor(name, argument.name(), tensor));
      });
    }
  }

  {
    const BelowDispatch below;
    std::optional<BorrowedEngine> engine;
    if (random && !takes_generator) {
      engine.emplace(lowering.index());
    }
    op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  }

  lowering.write_back();
  for (size_t i = stack->size() - schema.returns().size(); i < stack->size(); ++i) {
    map_tensors((*stack)[i], [&](const at::Tensor& tensor) { return lowering.raise(tensor); });
  }
}

TORCH_LIBRARY_IMPL(_, EMULATED_KEY, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>());
}

void prefer_cpu_kernels() {
  using c10::DispatchKey;
  static torch::Library aten(
      torch::Library::IMPL, "aten", kBackendKey, __FILE__, static_cast<uint32_t>(__LINE__));
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const auto& name : dispatcher.getAllOpNames()) {
    const auto op = dispatcher.findOp(name);
    if (name.getNamespace() != "aten" || !op || op->hasKernelForDispatchKey(kBackendKey) ||
        !op->hasKernelForDispatchKey(DispatchKey::CPU)) {
      continue;
    }
    if (op->hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutograd) ||
        op->hasKernelForDispatchKey(DispatchKey::CompositeExplicitAutogradNonFunctional)) {
      aten.impl(
          toString(name).c_str(), torch::CppFunction::makeFromBoxedFunction<&fallback>());
    }
  }
}

} // namespace emulated
