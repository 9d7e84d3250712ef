"""Operations on tensors of different devices raise, as on a real accelerator."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.emulated.device import DEVICE

X = torch.arange(1.0, 10.0).reshape(3, 3)
INDEX = torch.tensor([0, 2, 1])

MIXED: dict[str, Callable[[Tensor, Tensor, Tensor, Tensor], object]] = {
    # device operand, CPU operand, device index, CPU index
    "add": lambda d, c, di, ci: d + c,
    "reversed add": lambda d, c, di, ci: c + d,
    "mul in place": lambda d, c, di, ci: d.mul_(c),
    "add into a CPU tensor": lambda d, c, di, ci: c.add_(d),
    "sub with alpha": lambda d, c, di, ci: torch.sub(d, c, alpha=2),
    "div": lambda d, c, di, ci: d / c,
    "pow": lambda d, c, di, ci: d**c,
    "compare": lambda d, c, di, ci: d > c,
    "maximum": lambda d, c, di, ci: torch.maximum(d, c),
    "where": lambda d, c, di, ci: torch.where(d > 2, d, c),
    "lerp": lambda d, c, di, ci: torch.lerp(d, c, 0.5),
    "addcmul": lambda d, c, di, ci: torch.addcmul(d, d, c),
    "matmul": lambda d, c, di, ci: d @ c,
    "bmm": lambda d, c, di, ci: torch.bmm(d[None], c[None]),
    "addmm": lambda d, c, di, ci: torch.addmm(c, d, d),
    "einsum": lambda d, c, di, ci: torch.einsum("ij,jk->ik", d, c),
    "linear": lambda d, c, di, ci: F.linear(d, c),
    "linear's bias": lambda d, c, di, ci: F.linear(d, d, c[0]),
    "conv2d": lambda d, c, di, ci: F.conv2d(d[None, None], c[None, None]),
    "layer_norm's weight": lambda d, c, di, ci: F.layer_norm(d, (3,), c[0], c[0]),
    "batch_norm's statistics": lambda d, c, di, ci: F.batch_norm(d, c[0], c[1], training=True),
    "embedding": lambda d, c, di, ci: F.embedding(ci, d),
    "cat": lambda d, c, di, ci: torch.cat([d, c]),
    "stack": lambda d, c, di, ci: torch.stack([d, c]),
    "gather": lambda d, c, di, ci: d.gather(1, ci[None]),
    "scatter": lambda d, c, di, ci: d.scatter(1, ci[None], 1.0),
    "scatter_add's source": lambda d, c, di, ci: d.scatter_add(1, di[None], c),
    "index_select": lambda d, c, di, ci: d.index_select(0, ci),
    "index_add": lambda d, c, di, ci: d.index_add(0, di, c),
    "indexing a CPU tensor": lambda d, c, di, ci: c[di],
    "masked_fill": lambda d, c, di, ci: d.masked_fill(c > 2, 0.0),
    "masked_select": lambda d, c, di, ci: d.masked_select(c > 2),
    "cross_entropy": lambda d, c, di, ci: F.cross_entropy(d, ci),
    "mse_loss": lambda d, c, di, ci: F.mse_loss(d, c),
    "attention": lambda d, c, di, ci: F.scaled_dot_product_attention(d[None], c[None], c[None]),
    "grid_sample": lambda d, c, di, ci: F.grid_sample(
        d[None, None], c[None, :, None, :2], align_corners=False
    ),
    "dot": lambda d, c, di, ci: torch.dot(d[0], c[0]),
    "an out= argument": lambda d, c, di, ci: torch.add(d, d, out=c),
    "cdist": lambda d, c, di, ci: torch.cdist(d, c),
    "foreach add": lambda d, c, di, ci: torch._foreach_add([d], [c]),
    "cat with a CPU scalar": lambda d, c, di, ci: torch.stack([d[0, 0], c[0, 0]]),
    "LSTM with a CPU state": lambda d, c, di, ci: nn.LSTM(3, 3).to(DEVICE)(
        d[None], (c[None], c[None])
    ),
    "a gradient of another device": lambda d, c, di, ci: torch.autograd.grad(
        (d.requires_grad_() * 2).sum(0), d, c[0]
    ),
}


@pytest.mark.parametrize("name", list(MIXED))
def test_mixed_devices_raise(name: str) -> None:
    x, index = X.to(DEVICE), INDEX.to(DEVICE)
    MIXED[name](x.clone(), x.clone(), index, index)  # valid on one device
    with pytest.raises(RuntimeError, match="device"):
        MIXED[name](x.clone(), X.clone(), index, INDEX)


SCALARS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "add": lambda x, s: x + s,
    "reversed mul": lambda x, s: s * x,
    "compare": lambda x, s: (x > s).float(),
    "where": lambda x, s: torch.where(x > 2, x, s),
    "masked_fill": lambda x, s: x.masked_fill(x > 2, s),
    "fill": lambda x, s: x.clone().fill_(s),
    "clamp": lambda x, s: x.clamp(min=s),
    "item assignment": lambda x, s: x.clone().index_put_((INDEX.to(x.device),), s),
}


@pytest.mark.parametrize("name", list(SCALARS))
def test_cpu_scalars_are_taken_where_cuda_takes_them(name: str) -> None:
    scalar = torch.tensor(3.0)
    result = SCALARS[name](X.to(DEVICE), scalar)
    assert result.device.type == DEVICE
    assert torch.equal(result.cpu(), SCALARS[name](X, scalar))


def test_cpu_indices_and_masks_index_device_tensors() -> None:
    x = X.to(DEVICE)
    assert torch.equal(x[INDEX].cpu(), X[INDEX])
    assert torch.equal(x[X > 4].cpu(), X[X > 4])
    x[INDEX[:2]] = 0.0
    assert x.sum().item() == X[1].sum().item()


def test_a_module_on_the_cpu_refuses_device_input() -> None:
    with pytest.raises(RuntimeError, match="device"):
        nn.Linear(3, 3)(X.to(DEVICE))


def test_numpy_needs_the_cpu() -> None:
    with pytest.raises(TypeError, match=DEVICE):
        X.to(DEVICE).numpy()


def test_sparse_tensors_are_refused() -> None:
    with pytest.raises((NotImplementedError, RuntimeError)):
        X.to(DEVICE).to_sparse()
    with pytest.raises((NotImplementedError, RuntimeError)):
        X.to_sparse().to(DEVICE)
