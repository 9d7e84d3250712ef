// scaled_dot_product_attention with the CPU's fused kernel wherever the CPU would choose it.
#include "lowering.h"

#include <ATen/SDPBackend.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/ops/_fused_sdp_choice.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <torch/library.h>

namespace emulated {
namespace {

using at::SDPBackend;
using at::Tensor;

int64_t choose(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const std::optional<Tensor>& mask,
    double dropout,
    bool is_causal,
    std::optional<double> scale,
    bool enable_gqa) {
  // The fused kernel gives a mask no gradient.
  const bool differentiable_mask = mask && mask->defined() && mask->requires_grad();
  const auto choice = static_cast<SDPBackend>(at::_fused_sdp_choice(
      cpu_view(query), cpu_view(key), cpu_view(value),
      mask ? std::optional(cpu_view(*mask)) : std::nullopt, dropout, is_causal, scale, enable_gqa));
  const bool fused =
      choice == SDPBackend::flash_attention && !differentiable_mask && !enable_gqa;
  return static_cast<int64_t>(fused ? SDPBackend::overrideable : SDPBackend::math);
}

std::tuple<Tensor, Tensor, Tensor, Tensor, c10::SymInt, c10::SymInt, Tensor, Tensor, Tensor>
attention(
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const std::optional<Tensor>& mask,
    double dropout,
    bool is_causal,
    bool,
    std::optional<double> scale) {
  auto [output, logsumexp] = at::_scaled_dot_product_flash_attention_for_cpu(
      query, key, value, dropout, is_causal, mask, scale);
  return {output, logsumexp, {}, {}, query.size(2), key.size(2), {}, {}, {}};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> attention_backward(
    const Tensor& grad_output,
    const Tensor& query,
    const Tensor& key,
    const Tensor& value,
    const Tensor& mask,
    std::array<bool, 4>,
    const Tensor& output,
    const Tensor& logsumexp,
    const Tensor&,
    const Tensor&,
    c10::SymInt,
    c10::SymInt,
    double dropout,
    bool is_causal,
    const Tensor&,
    const Tensor&,
    std::optional<double> scale) {
  auto [grad_query, grad_key, grad_value] =
      at::_scaled_dot_product_flash_attention_for_cpu_backward(
          grad_output, query, key, value, output, logsumexp, dropout, is_causal,
          mask.defined() ? std::optional(mask) : std::nullopt, scale);
  return {grad_query, grad_key, grad_value, {}};
}

TORCH_LIBRARY_IMPL(aten, EMULATED_KEY, m) {
  m.impl("_scaled_dot_product_fused_attention_overrideable", &attention);
  m.impl("_scaled_dot_product_fused_attention_overrideable_backward", &attention_backward);
}

} // namespace
} // namespace emulated

namespace at::native {
#ifdef EMULATED_CUDA
REGISTER_CUDA_DISPATCH(_fused_sdp_choice_stub, &emulated::choose)
#else
REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &emulated::choose)
#endif
} // namespace at::native
