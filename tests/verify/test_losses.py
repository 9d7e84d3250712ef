"""The loss, the steps and the rest are seen in whatever way a program trains."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from porter.verify.outcome import Curve, Run
from tests.verify.conftest import train
from tests.verify.programs import PORT, broken

HEAD = """\
import torch

import porter_runtime as accel

torch.manual_seed(0)
device = torch.device(accel.device_type)
x = torch.randn(32, 4).to(device)
y = x.sum(1, keepdim=True)


def net(*sizes):
    layers = [torch.nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])]
    return torch.nn.Sequential(*layers).to(device)


def mse(a, b):
    return torch.nn.functional.mse_loss(a, b)


def show(name, value):
    print(name, float(value).hex(), flush=True)


"""


def shown(run: Run, name: str = "loss") -> list[float]:
    """Returns the numbers that a program printed under a name."""
    values = [line.split()[1] for line in run.tail if line.startswith(f"{name} ")]
    return [float.fromhex(value) for value in values]


def curves(run: Run) -> dict[str, Curve]:
    assert run.status == "trained", (run.reason, run.tail)
    (process,) = run.processes
    assert process.faults == []
    return {curve.optimizer: curve for curve in process.curves}


def test_a_plain_loop(on_cpu: Run) -> None:
    curve = curves(on_cpu)["Adam"]
    printed = [float(value) for value in re.findall(r"^loss (\S+)$", "\n".join(on_cpu.tail), re.M)]
    assert curve.loss == printed
    assert curve.learning_rate == [1e-2] * 12
    assert all(norm is not None and norm > 0 for norm in curve.gradient_norm)
    assert curve.seconds[0] is None
    assert all(seconds is not None and seconds > 0 for seconds in curve.seconds[1:])


def test_gradient_accumulation_and_clipping(tmp_path: Path) -> None:
    program = (
        HEAD
        + """\
model = net(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
for step in range(4):
    total = 0.0
    for part in range(4):
        rows = slice(8 * part, 8 * part + 8)
        loss = mse(model(x[rows]), y[rows]) / 4
        loss.backward()
        total += loss.item()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    grads = [p.grad.flatten() for p in model.parameters()]
    show("norm", torch.cat(grads).norm())
    show("rate", schedule.get_last_lr()[0])
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()
    show("loss", total)
"""
    )
    run = train(tmp_path / "port", program)
    curve = curves(run)["SGD"]
    assert curve.loss == pytest.approx(shown(run), rel=1e-12)
    assert len(curve.loss) == 4
    assert curve.gradient_norm == pytest.approx(shown(run, "norm"), rel=1e-6)
    assert curve.learning_rate == shown(run, "rate") == [0.1, 0.1, 0.05, 0.05]


def test_two_optimizers_of_a_gan(tmp_path: Path) -> None:
    program = (
        HEAD
        + """\
generator, critic = net(4, 4), net(4, 1)
of_critic = torch.optim.Adam(critic.parameters(), lr=1e-3)
of_generator = torch.optim.Adam(generator.parameters(), lr=1e-2)
for step in range(3):
    of_critic.zero_grad()
    real = mse(critic(x), y)
    real.backward()
    fake = mse(critic(generator(x).detach()), -y)
    fake.backward()
    of_critic.step()
    show("critic", real.item() + fake.item())
    of_generator.zero_grad()
    loss = -critic(generator(x)).mean()
    loss.backward()
    of_generator.step()
    show("generator", loss)
"""
    )
    run = train(tmp_path / "port", program)
    seen = curves(run)
    assert seen.keys() == {"Adam", "Adam 2"}
    assert seen["Adam"].loss == pytest.approx(shown(run, "critic"), rel=1e-6)
    assert seen["Adam 2"].loss == shown(run, "generator")
    assert [placement.changed for placement in run.processes[0].placements] == [2, 2]


@pytest.mark.slow
def test_one_backward_for_two_optimizers(tmp_path: Path) -> None:
    program = (
        HEAD
        + """\
first, second = net(4, 4), net(4, 1)
optimizers = [torch.optim.SGD(net.parameters(), lr=0.01) for net in (first, second)]
for step in range(3):
    loss = mse(second(first(x)), y)
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad()
    show("loss", loss)
"""
    )
    run = train(tmp_path / "port", program)
    seen = curves(run)
    assert seen["SGD"].loss == seen["SGD 2"].loss == shown(run)


@pytest.mark.slow
def test_several_losses_in_one_backward(tmp_path: Path) -> None:
    program = (
        HEAD
        + """\
model = net(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    first, second = mse(model(x), y), model(x).abs().mean()
    torch.autograd.backward([first, second])
    optimizer.step()
    show("loss", first + second)
"""
    )
    run = train(tmp_path / "port", program)
    assert curves(run)["SGD"].loss == shown(run)


def test_closures_of_lbfgs(tmp_path: Path) -> None:
    program = (
        HEAD
        + """\
model = net(4, 1)
optimizer = torch.optim.LBFGS(model.parameters(), max_iter=4)


def closure():
    optimizer.zero_grad()
    loss = mse(model(x), y)
    loss.backward()
    return loss


for step in range(3):
    show("loss", optimizer.step(closure))
"""
    )
    run = train(tmp_path / "port", program)
    assert curves(run)["LBFGS"].loss == shown(run)


@pytest.mark.slow
def test_a_closure_after_accumulation(tmp_path: Path) -> None:
    """Lightning steps with a closure that does the last of the accumulated passes."""
    program = (
        HEAD
        + """\
model = net(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def closure():
    loss = mse(model(x[16:]), y[16:]) / 2
    loss.backward()
    return loss


for step in range(3):
    early = mse(model(x[:16]), y[:16]) / 2
    early.backward()
    late = optimizer.step(closure)
    optimizer.zero_grad()
    show("loss", early + late)
"""
    )
    run = train(tmp_path / "port", program)
    assert curves(run)["SGD"].loss == pytest.approx(shown(run), rel=1e-6)


def test_the_scale_of_a_grad_scaler_is_not_in_the_loss(tmp_path: Path) -> None:
    program = (
        HEAD
        + """\
model = net(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = accel.GradScaler(init_scale=2.0**10)
for step in range(4):
    with accel.autocast():
        loss = mse(model(x), y)
    weight = 2 if step == 2 else 1
    if step == 1:
        loss = loss * float("inf")
    (scaler.scale(loss) / weight).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad()
    show("loss", loss / weight)
"""
    )
    run = train(tmp_path / "port", program, "npu-emulated")
    curve = curves(run)["SGD"]
    assert curve.loss == shown(run)
    assert curve.skipped == [1]
    (process,) = run.processes
    assert process.loss_scaled
    assert process.autocast == ["float16"]


@pytest.mark.slow
def test_compiled_programs(tmp_path: Path) -> None:
    program = (
        HEAD
        + """\
model = torch.compile(net(4, 8, 1), backend="eager", fullgraph=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


@torch.compile(backend="eager")
def step_once():
    optimizer.zero_grad()
    loss = mse(model(x), y)
    loss.backward()
    optimizer.step()
    return loss


for step in range(3):
    show("loss", step_once())
asks = torch.compile(lambda t: t + torch.cuda.is_available(), backend="eager", fullgraph=True)
asks(torch.ones(1))
"""
    )
    run = train(tmp_path / "port", program)
    assert curves(run)["SGD"].loss == shown(run)


@pytest.mark.slow
def test_reentrant_checkpoints_are_no_losses(tmp_path: Path) -> None:
    program = (
        HEAD
        + """\
from torch.utils.checkpoint import checkpoint

first, second = net(4, 4), net(4, 1)
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    hidden = checkpoint(lambda t: first(t).sum(), x.requires_grad_(), use_reentrant=True)
    loss = hidden + mse(second(x), y)
    loss.backward()
    optimizer.step()
    show("loss", loss)
"""
    )
    run = train(tmp_path / "port", program)
    assert curves(run)["SGD"].loss == shown(run)


@pytest.mark.slow
def test_several_processes_of_one_program(tmp_path: Path) -> None:
    """Forked, and spawned: each trains by itself, and writes before it ends."""
    program = (
        broken(PORT, ("import sys\n", "import sys\n\n\ndef main():\n  pass\n"))
        .replace("\ntorch.manual_seed(0)", "\n\ndef main(*_):\n    torch.manual_seed(0)", 1)
        .split("def main(*_):")
    )
    body = program[1].replace("\n", "\n    ").replace("        torch", "    torch", 1)
    program_text = (
        "import torch\nimport porter_runtime as accel\nimport multiprocessing\n\n\ndef main(*_):"
        + body
        + "\n\nif __name__ == '__main__':\n"
        "    for method in ('fork', 'spawn'):\n"
        "        child = multiprocessing.get_context(method).Process(target=main)\n"
        "        child.start()\n        child.join()\n        assert child.exitcode == 0\n"
    )
    run = train(tmp_path / "port", program_text)
    assert run.status == "trained", run.tail
    assert [(process.rank, process.stage) for process in run.processes] == [(0, 0), (0, 1)]
    first, second = run.processes
    assert first.curves[0].loss == second.curves[0].loss
    assert len(first.curves[0].loss) == 12
    assert first.placements[0].changed == 4


@pytest.mark.slow
def test_two_programs_one_after_the_other(on_cpu: Run, tmp_path: Path) -> None:
    twice = f"{sys.executable} train.py && {sys.executable} train.py"
    run = train(tmp_path / "port", PORT, command=["sh", "-c", twice])
    assert [process.stage for process in run.processes] == [0, 1]
    for process in run.processes:
        assert process.curves[0].loss == on_cpu.processes[0].curves[0].loss


def test_the_limit_of_steps(on_cpu: Run, tmp_path: Path) -> None:
    run = train(tmp_path / "port", PORT, steps=5)
    assert run.status == "stopped"
    assert run.exit_code == 0
    assert run.processes[0].curves[0].loss == on_cpu.processes[0].curves[0].loss[:5]
    assert run.processes[0].placements[0].changed == 4


LIGHTNING = """\
import lightning
import torch

import porter_runtime as accel

lightning.seed_everything(0)


class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch):
        loss = (self.layer(batch) - batch.sum(1, keepdim=True)).square().mean()
        print("loss", loss.item().hex(), flush=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


batches = torch.utils.data.DataLoader(torch.randn(32, 4), batch_size=8)
trainer = lightning.Trainer(
    max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False,
    enable_progress_bar=False, enable_model_summary=False,
)
trainer.fit(Net(), batches)
"""


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("lightning") is None, reason="needs lightning")
def test_lightning(tmp_path: Path) -> None:
    run = train(tmp_path / "port", LIGHTNING)
    assert curves(run)["SGD"].loss == shown(run)
    assert len(curves(run)["SGD"].loss) == 4
