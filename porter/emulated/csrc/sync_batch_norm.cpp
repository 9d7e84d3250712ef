// The steps of SyncBatchNorm, for which the CPU has no kernels, in operators for which it has.
#include "backend.h"

#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>
#include <torch/library.h>

namespace emulated {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

// All dimensions but the channels'.
std::vector<int64_t> reduced(const Tensor& input) {
  std::vector<int64_t> dims{0};
  for (int64_t dim = 2; dim < input.dim(); ++dim) {
    dims.push_back(dim);
  }
  return dims;
}

// A vector of channels, shaped to broadcast over the input, in the input's or a wider type.
Tensor channels(const Tensor& vector, const Tensor& input) {
  std::vector<int64_t> shape(input.dim(), 1);
  shape[1] = vector.numel();
  return vector.to(at::kFloat).view(shape);
}

std::tuple<Tensor, Tensor> stats(const Tensor& input, double eps) {
  const auto [variance, mean] =
      at::var_mean(input.to(at::kFloat), reduced(input), /*unbiased=*/false);
  return {mean, (variance + eps).rsqrt()};
}

std::tuple<Tensor, Tensor> gather_stats(
    const Tensor&,
    const Tensor& means,
    const Tensor& inverses,
    const OptionalTensor& running_mean,
    const OptionalTensor& running_variance,
    double momentum,
    double eps,
    const Tensor& counts) {
  const auto total = counts.sum();
  const auto weights = (counts / total).to(at::kFloat).unsqueeze(1);
  const auto mean = (means * weights).sum(0);
  const auto variances = inverses.pow(-2) - eps;
  const auto variance = ((variances + (means - mean).pow(2)) * weights).sum(0);
  if (running_mean && running_mean->defined()) {
    running_mean->lerp_(mean.to(running_mean->scalar_type()), momentum);
  }
  if (running_variance && running_variance->defined()) {
    const auto unbiased = variance * (total / (total - 1));
    running_variance->lerp_(unbiased.to(running_variance->scalar_type()), momentum);
  }
  return {mean, (variance + eps).rsqrt()};
}

Tensor normalize(
    const Tensor& input,
    const OptionalTensor& weight,
    const OptionalTensor& bias,
    const Tensor& mean,
    const Tensor& inverse,
    double) {
  auto output = (input - channels(mean, input)) * channels(inverse, input);
  if (weight && weight->defined()) {
    output = output * channels(*weight, input);
  }
  if (bias && bias->defined()) {
    output = output + channels(*bias, input);
  }
  return output.to(input.scalar_type());
}

std::tuple<Tensor, Tensor, Tensor, Tensor> backward_reduce(
    const Tensor& grad_output,
    const Tensor& input,
    const Tensor& mean,
    const Tensor& inverse,
    const OptionalTensor& weight,
    bool,
    bool,
    bool) {
  const auto dims = reduced(input);
  const auto grad = grad_output.to(at::kFloat);
  const auto sum = grad.sum(dims);
  const auto moment = (grad * (input - channels(mean, input))).sum(dims);
  const auto type = weight && weight->defined() ? weight->scalar_type() : at::kFloat;
  return {sum, moment, (moment * inverse).to(type), sum.to(type)};
}

Tensor backward_input(
    const Tensor& grad_output,
    const Tensor& input,
    const Tensor& mean,
    const Tensor& inverse,
    const OptionalTensor& weight,
    const Tensor& sum,
    const Tensor& moment,
    const Tensor& counts) {
  const auto total = counts.sum();
  const auto slope = moment / total * inverse.pow(2);
  auto scale = inverse;
  if (weight && weight->defined()) {
    scale = scale * *weight;
  }
  const auto grad = grad_output - channels(sum / total, input) -
      (input - channels(mean, input)) * channels(slope, input);
  return (grad * channels(scale, input)).to(input.scalar_type());
}

TORCH_LIBRARY_IMPL(aten, EMULATED_KEY, m) {
  m.impl("batch_norm_stats", &stats);
  m.impl("batch_norm_gather_stats_with_counts", &gather_stats);
  m.impl("batch_norm_elemt", &normalize);
  m.impl("batch_norm_backward_reduce", &backward_reduce);
  m.impl("batch_norm_backward_elemt", &backward_input);
}

} // namespace
} // namespace emulated
