"""The module torch on a machine that has CUDA: it records, but for the parts that must be real."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch as installed_torch
from recording.devices import Current, Device
from recording.values import Legacy, Recorded, World, spelled


def torch_on_cuda(world: World) -> Recorded:
    """Return the module torch of a world."""
    torch = Recorded(world, "torch")
    cuda, amp, cuda_amp = torch.cuda, torch.amp, torch.cuda.amp

    class autocast(contextlib.ContextDecorator):
        def __init__(
            self,
            device_type: Any,
            dtype: Any = None,
            enabled: Any = True,
            cache_enabled: Any = None,
        ) -> None:
            options = (device_type, dtype, enabled, cache_enabled)
            self.text = f"torch.autocast({', '.join(map(spelled, options))})"
            world.record(self.text)

        def __enter__(self) -> None:
            world.record("enter", self.text)

        def __exit__(self, *failure: object) -> None:
            world.record("exit", self.text)

    class Cudaautocast(autocast):
        def __init__(
            self, enabled: Any = True, dtype: Any = torch.float16, cache_enabled: Any = True
        ) -> None:
            super().__init__("cuda", dtype, enabled, cache_enabled)

    class GradScaler:
        def __init__(
            self,
            device: Any = "cuda",
            init_scale: Any = 2.0**16,
            growth_factor: Any = 2.0,
            backoff_factor: Any = 0.5,
            growth_interval: Any = 2000,
            enabled: Any = True,
        ) -> None:
            world.record(
                "GradScaler",
                device,
                init_scale,
                growth_factor,
                backoff_factor,
                growth_interval,
                enabled,
            )

    class CudaGradScaler(GradScaler):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__("cuda", *args, **kwargs)

    def custom(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
        def of_a_device(function: Any = None, *, device_type: Any, **options: Any) -> Any:
            if function is None:
                return lambda f: of_a_device(f, device_type=device_type, **options)
            options = {"cast_inputs": None, **options}
            world.record(name, function, device_type, options if name == "custom_fwd" else "")
            return function

        def of_cuda(function: Any = None, **options: Any) -> Any:
            return of_a_device(function, device_type="cuda", **options)

        of_a_device.__name__ = of_cuda.__name__ = name
        return of_a_device, of_cuda

    def asks(name: str) -> Callable[..., Any]:
        def ask(device_type: Any = "cuda") -> Any:
            world.record(name, device_type)
            return Recorded(world, f"{name}({spelled(device_type)})")

        return ask

    for module in (torch, amp, amp.autocast_mode):
        module._known["autocast"] = autocast
    for module in (amp, amp.grad_scaler, torch):
        module._known["GradScaler"] = GradScaler
    for module in (cuda_amp, cuda_amp.autocast_mode):
        module._known["autocast"] = Cudaautocast
    for module in (cuda_amp, cuda_amp.grad_scaler):
        module._known["GradScaler"] = CudaGradScaler
    for name in ("custom_fwd", "custom_bwd"):
        of_a_device, of_cuda = custom(name)
        amp._known[name] = amp.autocast_mode._known[name] = of_a_device
        cuda_amp._known[name] = cuda_amp.autocast_mode._known[name] = of_cuda
    torch.distributed.Backend._known["NCCL"] = "nccl"
    torch._known["is_autocast_enabled"] = asks("is_autocast_enabled")
    torch._known["get_autocast_dtype"] = asks("get_autocast_dtype")
    torch._known["get_autocast_gpu_dtype"] = asks("get_autocast_dtype")
    torch._known["device"] = Device
    torch._known["__version__"] = installed_torch.__version__
    out_of_memory = type("OutOfMemoryError", (RuntimeError,), {})
    torch._known["OutOfMemoryError"] = cuda._known["OutOfMemoryError"] = out_of_memory
    torch.nn._known["Module"] = type("Module", (), {})
    torch.nn.utils.rnn._known["PackedSequence"] = type("PackedSequence", (), {})
    torch.autograd._known["Function"] = type("Function", (), {})
    torch.version._known.update(cuda=None, hip=None)
    cuda._known["is_available"] = lambda: True
    cuda._known["device_count"] = lambda: 2
    cuda._known["current_device"] = lambda: Current(0)
    for dtype in ("Float", "Half", "Long", "Int", "Byte", "Bool", "Double", "Short", "Char"):
        for module in (torch, cuda):
            name = f"{module._name}.{dtype}Tensor"
            module._known[f"{dtype}Tensor"] = Legacy(name, (), {"world": world})
    return torch
