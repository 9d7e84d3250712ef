// LSTM and GRU steps. Core torch calls fused cells for this device, which have no kernel on the
// CPU; these spell them out in operators that autograd knows, in the CPU's order of operations.
#include "backend.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <torch/library.h>

namespace emulated {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

Tensor biased(const Tensor& gates, const OptionalTensor& bias) {
  return bias && bias->defined() ? gates + *bias : gates;
}

// The workspace serves the fused backward only, which autograd doesn't call here.
Tensor no_workspace(const Tensor& like) {
  return at::empty({0}, like.options());
}

std::tuple<Tensor, Tensor, Tensor> lstm_cell(
    const Tensor& input_gates,
    const Tensor& hidden_gates,
    const Tensor& cx,
    const OptionalTensor& input_bias,
    const OptionalTensor& hidden_bias) {
  const auto gates =
      (biased(hidden_gates, hidden_bias) + biased(input_gates, input_bias)).unsafe_chunk(4, 1);
  const auto cy = gates[1].sigmoid() * cx + gates[0].sigmoid() * gates[2].tanh();
  const auto hy = gates[3].sigmoid() * cy.tanh();
  return {hy, cy, no_workspace(cy)};
}

std::tuple<Tensor, Tensor> gru_cell(
    const Tensor& input_gates,
    const Tensor& hidden_gates,
    const Tensor& hx,
    const OptionalTensor& input_bias,
    const OptionalTensor& hidden_bias) {
  const auto input = biased(input_gates, input_bias).unsafe_chunk(3, 1);
  const auto hidden = biased(hidden_gates, hidden_bias).unsafe_chunk(3, 1);
  const auto reset = (hidden[0] + input[0]).sigmoid();
  const auto update = (hidden[1] + input[1]).sigmoid();
  const auto candidate = (input[2] + hidden[2] * reset).tanh();
  return {(hx - candidate) * update + candidate, no_workspace(hx)};
}

void implement(torch::Library& m) {
  m.impl("_thnn_fused_lstm_cell", &lstm_cell);
  m.impl("_thnn_fused_gru_cell", &gru_cell);
}

} // namespace

TORCH_LIBRARY_IMPL(aten, EMULATED_AUTOGRAD_KEY, m) {
  implement(m);
}

TORCH_LIBRARY_IMPL(aten, EMULATED_KEY, m) {
  implement(m);
}

} // namespace emulated
