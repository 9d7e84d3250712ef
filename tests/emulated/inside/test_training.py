"""Models train on the emulated device as they do on the CPU."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.emulated.device import DEVICE, module

STEPS = 8


class Recurrent(nn.Module):
    def __init__(self, body: nn.RNNBase) -> None:
        super().__init__()
        self.body = body
        self.head = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.head(self.body(x)[0][:, -1])
        return logits


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(16, 5)

    def forward(self, x: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], device=x.device)
        logits: Tensor = self.head(self.body(x, mask=mask).mean(1))
        return logits


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 5))


def cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, stride=2),
        nn.GroupNorm(4, 16),
        nn.GELU(),
        nn.ConvTranspose2d(16, 8, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 5),
    )


# The model, the shape of a batch, and how far fp32 losses may be from the CPU's: zero, except that
# torch projects an RNN's inputs for all time steps at once on the CPU and step by step elsewhere.
MODELS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], float]] = {
    "mlp": (mlp, (16, 10), 0.0),
    "cnn": (cnn, (8, 3, 16, 16), 0.0),
    "transformer": (Transformer, (4, 9, 16), 0.0),
    "lstm": (lambda: Recurrent(nn.LSTM(6, 8, batch_first=True)), (8, 7, 6), 1e-6),
    "gru": (lambda: Recurrent(nn.GRU(6, 8, 2, batch_first=True)), (8, 7, 6), 1e-6),
    "rnn": (lambda: Recurrent(nn.RNN(6, 8, batch_first=True)), (8, 7, 6), 1e-6),
}


def batches(shape: tuple[int, ...]) -> Iterator[tuple[Tensor, Tensor]]:
    for step in range(STEPS):
        generator = torch.Generator().manual_seed(step)
        yield (
            torch.randn(shape, generator=generator),
            torch.randint(5, shape[:1], generator=generator),
        )


def train(
    model: nn.Module,
    shape: tuple[int, ...],
    device: str,
    optimizer: type[torch.optim.Optimizer] = torch.optim.SGD,
    dtype: torch.dtype | None = None,
    scaler: torch.amp.GradScaler | None = None,
) -> list[float]:
    """Trains a copy and returns its losses; asserts that parameters on the device changed.

    The optimizer is built before the model moves: the moved parameters must be the same objects.
    """
    model = copy.deepcopy(model)
    parameters = list(model.parameters())
    optim = optimizer(parameters, lr=0.01)  # type: ignore[call-arg]
    before = [parameter.detach().clone() for parameter in parameters]
    model.to(device)
    losses = []
    for inputs, targets in batches(shape):
        optim.zero_grad()
        with torch.autocast(device, dtype=dtype or torch.bfloat16, enabled=dtype is not None):
            loss = F.cross_entropy(model(inputs.to(device)).float(), targets.to(device))
        if scaler is None:
            loss.backward()  # type: ignore[no-untyped-call]
            optim.step()
        else:
            scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
            scaler.step(optim)
            scaler.update()
        losses.append(loss.item())
    for old, parameter, now in zip(before, parameters, model.parameters(), strict=True):
        assert now is parameter
        assert now.device.type == device
        assert now.grad is not None
        assert now.grad.device == now.device
        assert not torch.equal(old, now.detach().cpu())
    for state in optim.state.values():
        for name, value in state.items():
            if isinstance(value, Tensor) and name != "step":
                assert value.device.type == device, name
    return losses


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.AdamW])
@pytest.mark.parametrize("name", list(MODELS))
def test_float32_losses_are_the_cpus(name: str, optimizer: type[torch.optim.Optimizer]) -> None:
    make, shape, tolerance = MODELS[name]
    torch.manual_seed(0)
    model = make()
    cpu = train(model, shape, "cpu", optimizer)
    assert train(model, shape, DEVICE, optimizer) == pytest.approx(cpu, abs=tolerance, rel=0)


@pytest.mark.parametrize("name", list(MODELS))
def test_bfloat16_losses_are_near_the_cpus(name: str) -> None:
    make, shape, _ = MODELS[name]
    torch.manual_seed(0)
    model = make()
    cpu = train(model, shape, "cpu", dtype=torch.bfloat16)
    assert train(model, shape, DEVICE, dtype=torch.bfloat16) == pytest.approx(cpu, abs=2e-3, rel=0)


@pytest.mark.parametrize("name", list(MODELS))
def test_float16_with_a_scaler_is_near_float32(name: str) -> None:
    make, shape, _ = MODELS[name]
    torch.manual_seed(0)
    model = make()
    scaler = torch.amp.GradScaler(DEVICE, init_scale=1024.0)
    half = train(model, shape, DEVICE, dtype=torch.float16, scaler=scaler)
    assert half == pytest.approx(train(model, shape, "cpu"), abs=2e-3, rel=0)
    assert scaler.get_scale() == 1024.0


def test_a_scaler_skips_steps_with_infinite_gradients() -> None:
    weight = nn.Parameter(torch.ones(3, device=DEVICE))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scaler = torch.amp.GradScaler(DEVICE, init_scale=8.0)
    scaler.scale((weight * float("inf")).sum()).backward()  # type: ignore[no-untyped-call]
    scaler.step(optimizer)
    scaler.update()
    assert weight.tolist() == [1.0, 1.0, 1.0]
    assert scaler.get_scale() == 4.0


def test_autocast_runs_matrices_in_half_and_softmax_in_single() -> None:
    x = torch.ones(2, 2, device=DEVICE)
    for dtype in (torch.float16, torch.bfloat16):
        with torch.autocast(DEVICE, dtype=dtype):
            assert (x @ x).dtype == dtype
            assert F.softmax(x.to(dtype), 0).dtype == torch.float32
            assert F.relu(x).dtype == torch.float32
            with pytest.raises(RuntimeError, match="unsafe to autocast"):
                F.binary_cross_entropy(x, x)


def test_dropout_draws_from_the_devices_generator() -> None:
    x = torch.ones(1000, device=DEVICE)
    host = torch.get_rng_state()
    module.manual_seed(3)
    first = F.dropout(x)
    assert not torch.equal(first, F.dropout(x))
    module.manual_seed(3)
    assert torch.equal(first, F.dropout(x))
    assert torch.equal(host, torch.get_rng_state())


def test_checkpointed_dropout_recomputes_the_same_mask() -> None:
    x = torch.ones(1000, device=DEVICE, requires_grad=True)
    from torch.utils.checkpoint import checkpoint

    y = checkpoint(F.dropout, x, use_reentrant=False)
    y.sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad, y.detach())


def test_sync_batch_norm_of_one_process_trains() -> None:
    model = nn.SyncBatchNorm(4).to(DEVICE).eval()
    x = torch.randn(8, 4)
    assert torch.allclose(model(x.to(DEVICE)).cpu(), nn.BatchNorm1d(4).eval()(x))


def test_results_of_views_share_memory() -> None:
    x = torch.zeros(4, 4, device=DEVICE)
    x.t()[1].fill_(2.0)
    x[:, 2:].view(torch.int32).zero_()
    x.view(2, 8).narrow(1, 0, 1).add_(1)
    assert x.cpu().tolist() == [[1, 2, 0, 0], [0, 2, 0, 0], [1, 2, 0, 0], [0, 2, 0, 0]]


def test_out_arguments_grow_and_keep_identity() -> None:
    out = torch.empty(0, device=DEVICE)
    result = torch.arange(5.0, out=out)
    assert result is out
    torch.cumsum(torch.ones(7, device=DEVICE), 0, out=out.resize_(0))
    assert out.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert out.untyped_storage().nbytes() == 28
