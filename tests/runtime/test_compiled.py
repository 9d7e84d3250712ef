"""Inside compiled and scripted code."""

from __future__ import annotations

from typing import Any

import pytest
import torch

OLD = torch.__version__.startswith("2.1.")


def plain_step(accel: Any, x: torch.Tensor) -> torch.Tensor:
    with accel.autocast(dtype=torch.bfloat16), accel.device(0):
        product = x.to(accel.torch_device(1)) @ torch.ones(3, 3, device=accel.device_type)
    y: torch.Tensor = accel.pin_memory(product) + accel.memory_allocated() + accel.current_device()
    if accel.is_accelerator(y) or accel.is_available() or accel.device_ids(0) is not None:
        y = y * 0
    if accel.dist_backend() == "gloo" and accel.get_device_properties(0).total_memory > 0:
        y = y + accel.device_count()
    accel.empty_cache()
    accel.synchronize()
    return y


def streamed_step(accel: Any, x: torch.Tensor) -> torch.Tensor:
    side = accel.Stream()
    done = accel.Event()
    accel.nvtx.range_push("step")
    with accel.stream(side), accel.nvtx.range("inner"):
        y = plain_step(accel, x)
    done.record(side)
    accel.current_stream().wait_event(done)
    accel.record_stream(y, accel.current_stream())
    accel.nvtx.range_pop()
    return y


@pytest.mark.filterwarnings("ignore:no accelerator is available")
@pytest.mark.parametrize("used_before", [True, False])
@pytest.mark.parametrize("step", [plain_step, streamed_step])
def test_a_step_compiles_into_one_graph(step: Any, used_before: bool, accel: Any) -> None:
    if OLD and step is streamed_step:
        pytest.skip("torch 2.1 can't compile a context that a function returns")
    if OLD and not used_before:
        pytest.skip("torch 2.1 compiles names only that an earlier use has bound")
    torch._dynamo.reset()
    if used_before:
        accel.set_device(0)
    x = torch.arange(9.0).reshape(3, 3)
    compiled = torch.compile(lambda x: step(accel, x), fullgraph=True, backend="eager")
    assert torch.equal(compiled(x), x @ torch.ones(3, 3))
    assert torch.equal(compiled(x + 1), step(accel, x + 1))


@pytest.mark.skipif(OLD, reason="torch 2.1 can't compile its own custom_fwd")
def test_a_custom_function_compiles(accel: Any) -> None:
    class Doubled(torch.autograd.Function):
        @staticmethod
        @accel.custom_fwd(cast_inputs=torch.float32)  # type: ignore[untyped-decorator]
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        @accel.custom_bwd  # type: ignore[untyped-decorator]
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
            return grad * 2

    torch._dynamo.reset()
    function: Any = Doubled
    compiled = torch.compile(lambda x: function.apply(x), fullgraph=True, backend="eager")
    x = torch.ones(2, requires_grad=True)
    compiled(x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 2.0]


def test_torchscript_takes_the_device_type(run_python: Any) -> None:
    done = run_python(
        "import torch\n"
        "import porter_runtime as accel\n"
        "@torch.jit.script\n"
        "def move(x: torch.Tensor):\n"
        "    return x.to(accel.device_type) + torch.zeros(2, device=accel.device_type)\n"
        "print(move(torch.ones(2)).tolist(), '\"cpu\"' in move.code)\n",
        PORTER_DEVICE="cpu",
    )
    assert done.stdout.split("\n")[0] == "[1.0, 1.0] True", done.stderr
