#include "refusals.h"

#include "device.h"

#include <string_view>
#include <unordered_set>

namespace emulated {
namespace {

using Names = std::unordered_set<std::string_view>;

std::string_view base_name(std::string_view op) {
  constexpr std::string_view aten = "aten::";
  if (op.substr(0, aten.size()) == aten) {
    op.remove_prefix(aten.size());
  }
  if (!op.empty() && op.back() == '_' && op.substr(0, 2) != "__") {
    op.remove_suffix(1); // the in-place form follows the same rule
  }
  return op;
}

// The operators whose TensorIterator allows CPU scalars on CUDA, or which read the scalar.
const Names& scalar_operands() {
  static const Names names{
      "add", "sub", "rsub", "mul", "div", "true_divide", "floor_divide", "remainder", "fmod", "pow",
      "float_power", "atan2", "hypot", "copysign", "nextafter", "ldexp", "xlogy", "maximum",
      "minimum", "fmax", "fmin", "gcd", "lcm", "logaddexp", "logaddexp2", "heaviside",
      "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift",
      "__and__", "__or__", "__xor__", "__lshift__", "__rshift__", "__iand__", "__ior__", "__ixor__",
      "logical_and", "logical_or", "logical_xor", "eq", "ne", "lt", "le", "gt", "ge", "where",
      "masked_fill", "fill", "lerp", "clamp", "clamp_min", "clamp_max", "addcmul", "addcdiv",
      "index_put", "_index_put_impl", "_unsafe_index_put", "index_fill", "isclose", "special_zeta",
      "special_xlog1py", "_foreach_add", "_foreach_mul", "_foreach_div"};
  return names;
}

const Names& cpu_indices() {
  static const Names names{"index", "_unsafe_index", "index_put", "_index_put_impl",
                           "_unsafe_index_put"};
  return names;
}

// Arguments that these operators demand on the CPU or read there.
bool read_on_host(std::string_view op, std::string_view argument) {
  return argument == "scalars" ||
      ((op == "_fused_adam" || op == "_fused_adamw" || op == "_fused_sgd") && argument == "lr");
}

// Moving, viewing and reading float64 works; so does arithmetic on one element, which GradScaler
// itself does.
const Names& data_movement() {
  static const Names names{"copy", "_to_copy", "fill", "zero", "_local_scalar_dense", "equal",
                           "cat", "stack", "index", "index_select", "clone", "is_nonzero"};
  return names;
}

bool is_large_double(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined() &&
      value.toTensor().device().type() == kDevice &&
      value.toTensor().scalar_type() == at::kDouble && value.toTensor().numel() > 1;
}

} // namespace

bool takes_cpu_tensor(
    const std::string& op, const std::string& argument, const at::Tensor& tensor) {
  const auto name = base_name(op);
  return (tensor.dim() == 0 && scalar_operands().count(name) > 0) ||
      (argument == "indices" && cpu_indices().count(name) > 0) || read_on_host(name, argument);
}

void refuse_unsupported(const c10::FunctionSchema& schema, at::ArrayRef<c10::IValue> arguments) {
  const auto name = base_name(schema.name());
  TORCH_CHECK_NOT_IMPLEMENTED(
      name != "_fft_c2c", schema.name(), ": Ascend has no FFT of complex input (strict emulation)");
  if (data_movement().count(name) > 0) {
    return;
  }
  for (const auto& value : arguments) {
    TORCH_CHECK_NOT_IMPLEMENTED(
        !is_large_double(value), schema.name(),
        ": Ascend doesn't compute in float64; use float32 (strict emulation)");
  }
}

} // namespace emulated
