"""Measures what a call through the shim costs beside the direct call, on the CPU.

    PYTHONPATH=runtime python bench/shim_overhead.py

The direct call is spelled as CUDA code spells it, `torch.<module>.<name>()`: torch.cuda's where
that answers without CUDA, else torch.cpu's, else the shim's own function put into a module beside
them, which leaves the cost of finding it. Times are the least of interleaved rounds; ratios alone
count. The limits are 1.2, and 2 for `is_accelerator`; Stream and Event stand outside, since
torch.cpu's lack half of the methods and keep nothing.
"""

from __future__ import annotations

import os
import sys
import timeit
import types
import warnings
from collections.abc import Callable
from typing import Any

import torch

import porter_runtime as accel
from porter_runtime import _cpu, _names, _surface
from porter_runtime._backend import Backend

ROUNDS = 15
LIMIT = 1.2
LIMIT_IS_ACCELERATOR = 2.0

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "set_device": (0,),
    "device": (0,),
    "device_of": (torch.ones(1),),
    "can_device_access_peer": (0, 1),
    "set_sync_debug_mode": (0,),
    "set_per_process_memory_fraction": (0.5,),
    "manual_seed": (0,),
    "manual_seed_all": (0,),
    "set_rng_state": (torch.get_rng_state(),),
    "set_rng_state_all": ([],),
    "StreamContext": (None,),
    "stream": (None,),
    "set_stream": (None,),
}
# torch.cuda queues these without end until CUDA starts, and reads the same generator.
NOT_BESIDE_TORCH_CUDA = {"manual_seed", "manual_seed_all", "seed", "seed_all", "set_rng_state"}


def direct_module(name: str) -> str:
    """Return the module of torch whose function of that name answers here."""
    for module in (torch.cuda, torch.cpu):
        if name in NOT_BESIDE_TORCH_CUDA or not hasattr(module, name):
            continue
        try:
            getattr(module, name)(*ARGUMENTS.get(name, ()))
        except Exception:
            continue
        return module.__name__
    return "torch.beside"


def least_times(*statements: Callable[[], Any]) -> list[float]:
    """Return each statement's least time of a call in ns, over interleaved rounds."""
    timers = [timeit.Timer("call()", globals={"call": statement}) for statement in statements]
    loops = max(1000, timers[0].autorange()[0] // 20)
    rounds = [[timer.timeit(loops) / loops for timer in timers] for _ in range(ROUNDS)]
    return [min(times) * 1e9 for times in zip(*rounds, strict=True)]


def calls(module: str, name: str, arguments: tuple[Any, ...]) -> Callable[[], Any]:
    """Return a function that makes the call ten times as user code writes it, unrolled."""
    scope: dict[str, Any] = {"accel": accel, "torch": torch, "a": arguments}
    given = ", ".join(f"a[{i}]" for i in range(len(arguments)))
    body = "\n    ".join([f"{module}.{name}({given})"] * 10)
    exec(f"def call():\n    {body}\n", scope)
    made: Callable[[], Any] = scope["call"]
    return made


def main() -> None:
    os.environ["PORTER_DEVICE"] = "cpu"
    warnings.simplefilter("ignore")
    beside = types.ModuleType("torch.beside")
    beside.__dict__.update(vars(_cpu))
    torch.__dict__["beside"] = beside
    print(f"torch {torch.__version__}, Python {sys.version.split()[0]}; ns a call")
    worst = 0.0
    for name in sorted(_names.MIRRORED - _names.TENSOR_TYPES - _names.STORAGE_TYPES):
        if not callable(getattr(accel, name)) or name in ("OutOfMemoryError", "nvtx"):
            continue
        arguments = ARGUMENTS.get(name, ())
        path = direct_module(name)
        both = calls("accel", name, arguments), calls(path, name, arguments)
        ours, direct = least_times(*both)
        for _ in range(3):
            if ours > LIMIT * direct:  # the machine is shared: keep the least of more rounds
                again = least_times(*both)
                ours, direct = min(ours, again[0]), min(direct, again[1])
        if name not in ("Stream", "Event"):
            worst = max(worst, ours / direct)
        print(f"{name:36}{ours / 10:9.0f} beside {direct / 10:9.0f} {path:12} {ours / direct:5.2f}")
    print(f"worst ratio {worst:.2f}, at most {LIMIT}")

    tensor = torch.ones(1)
    for device_type in ("cpu", "cuda", "npu"):
        ask = (
            accel.is_accelerator
            if device_type == "cpu"
            else _surface._is_accelerator(Backend(device_type, None))
        )
        scope: dict[str, Any] = {"ask": ask, "x": tensor}
        exec("def ours():\n    " + "\n    ".join(["ask(x)"] * 10), scope)
        exec("def direct():\n    " + "\n    ".join(["x.is_cuda"] * 10), scope)
        ours, direct = least_times(scope["ours"], scope["direct"])
        print(
            f"is_accelerator on {device_type}: {ours / 10:.0f} beside is_cuda {direct / 10:.0f}, "
            f"ratio {ours / direct:.2f}, at most {LIMIT_IS_ACCELERATOR}"
        )


if __name__ == "__main__":
    main()
