"""Operations on tensors of different devices raise, as on a real accelerator."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

X = torch.arange(1.0, 10.0).reshape(3, 3)
INDEX = torch.tensor([0, 2, 1])

MIXED: dict[str, Callable[[Tensor, Tensor, Tensor, Tensor], object]] = {
    # npu operand, CPU operand, npu index, CPU index
    "add": lambda n, c, ni, ci: n + c,
    "reversed add": lambda n, c, ni, ci: c + n,
    "mul in place": lambda n, c, ni, ci: n.mul_(c),
    "add into a CPU tensor": lambda n, c, ni, ci: c.add_(n),
    "sub with alpha": lambda n, c, ni, ci: torch.sub(n, c, alpha=2),
    "div": lambda n, c, ni, ci: n / c,
    "pow": lambda n, c, ni, ci: n**c,
    "compare": lambda n, c, ni, ci: n > c,
    "maximum": lambda n, c, ni, ci: torch.maximum(n, c),
    "where": lambda n, c, ni, ci: torch.where(n > 2, n, c),
    "lerp": lambda n, c, ni, ci: torch.lerp(n, c, 0.5),
    "addcmul": lambda n, c, ni, ci: torch.addcmul(n, n, c),
    "matmul": lambda n, c, ni, ci: n @ c,
    "bmm": lambda n, c, ni, ci: torch.bmm(n[None], c[None]),
    "addmm": lambda n, c, ni, ci: torch.addmm(c, n, n),
    "einsum": lambda n, c, ni, ci: torch.einsum("ij,jk->ik", n, c),
    "linear": lambda n, c, ni, ci: F.linear(n, c),
    "linear's bias": lambda n, c, ni, ci: F.linear(n, n, c[0]),
    "conv2d": lambda n, c, ni, ci: F.conv2d(n[None, None], c[None, None]),
    "layer_norm's weight": lambda n, c, ni, ci: F.layer_norm(n, (3,), c[0], c[0]),
    "batch_norm's statistics": lambda n, c, ni, ci: F.batch_norm(n, c[0], c[1], training=True),
    "embedding": lambda n, c, ni, ci: F.embedding(ci, n),
    "cat": lambda n, c, ni, ci: torch.cat([n, c]),
    "stack": lambda n, c, ni, ci: torch.stack([n, c]),
    "gather": lambda n, c, ni, ci: n.gather(1, ci[None]),
    "scatter": lambda n, c, ni, ci: n.scatter(1, ci[None], 1.0),
    "scatter_add's source": lambda n, c, ni, ci: n.scatter_add(1, ni[None], c),
    "index_select": lambda n, c, ni, ci: n.index_select(0, ci),
    "index_add": lambda n, c, ni, ci: n.index_add(0, ni, c),
    "indexing a CPU tensor": lambda n, c, ni, ci: c[ni],
    "masked_fill": lambda n, c, ni, ci: n.masked_fill(c > 2, 0.0),
    "masked_select": lambda n, c, ni, ci: n.masked_select(c > 2),
    "cross_entropy": lambda n, c, ni, ci: F.cross_entropy(n, ci),
    "mse_loss": lambda n, c, ni, ci: F.mse_loss(n, c),
    "attention": lambda n, c, ni, ci: F.scaled_dot_product_attention(n[None], c[None], c[None]),
    "grid_sample": lambda n, c, ni, ci: F.grid_sample(
        n[None, None], c[None, :, None, :2], align_corners=False
    ),
    "dot": lambda n, c, ni, ci: torch.dot(n[0], c[0]),
    "an out= argument": lambda n, c, ni, ci: torch.add(n, n, out=c),
    "cdist": lambda n, c, ni, ci: torch.cdist(n, c),
    "foreach add": lambda n, c, ni, ci: torch._foreach_add([n], [c]),
    "cat with a CPU scalar": lambda n, c, ni, ci: torch.stack([n[0, 0], c[0, 0]]),
    "LSTM with a CPU state": lambda n, c, ni, ci: nn.LSTM(3, 3).to("npu")(
        n[None], (c[None], c[None])
    ),
    "a gradient of another device": lambda n, c, ni, ci: torch.autograd.grad(
        (n.requires_grad_() * 2).sum(0), n, c[0]
    ),
}


@pytest.mark.parametrize("name", list(MIXED))
def test_mixed_devices_raise(name: str) -> None:
    npu, index = X.to("npu"), INDEX.to("npu")
    MIXED[name](npu.clone(), npu.clone(), index, index)  # valid on one device
    with pytest.raises(RuntimeError, match="device"):
        MIXED[name](npu.clone(), X.clone(), index, INDEX)


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
    result = SCALARS[name](X.to("npu"), scalar)
    assert result.device.type == "npu"
    assert torch.equal(result.cpu(), SCALARS[name](X, scalar))


def test_cpu_indices_and_masks_index_npu_tensors() -> None:
    npu = X.to("npu")
    assert torch.equal(npu[INDEX].cpu(), X[INDEX])
    assert torch.equal(npu[X > 4].cpu(), X[X > 4])
    npu[INDEX[:2]] = 0.0
    assert npu.sum().item() == X[1].sum().item()


def test_a_module_on_the_cpu_refuses_npu_input() -> None:
    with pytest.raises(RuntimeError, match="device"):
        nn.Linear(3, 3)(X.to("npu"))


def test_cuda_still_raises() -> None:
    with pytest.raises((RuntimeError, AssertionError), match="CUDA"):
        X.cuda()
    with pytest.raises((RuntimeError, AssertionError), match="CUDA"):
        X.to("npu").cuda()
    with pytest.raises((RuntimeError, AssertionError), match="CUDA"):
        nn.Linear(3, 3).cuda()


def test_numpy_needs_the_cpu() -> None:
    with pytest.raises(TypeError, match="npu"):
        X.to("npu").numpy()


def test_sparse_tensors_are_refused() -> None:
    with pytest.raises((NotImplementedError, RuntimeError)):
        X.to("npu").to_sparse()
    with pytest.raises((NotImplementedError, RuntimeError)):
        X.to_sparse().to("npu")
