"""A torch_npu without a device: names and signatures of a real wheel, with the CPU underneath.

Functions record their calls and take exactly what the wheel's functions take. For what an NPU does,
see the emulated one.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from typing import Any

import torch

from tests.runtime.torch_npu_sources import read_table

STATE_BYTES = 16
TOTAL_MEMORY = 64 << 30


class FakeNpu:
    """The modules `torch_npu` and `torch.npu` of one version, and the calls that reached them."""

    def __init__(self, version: str, devices: int = 2) -> None:
        self.devices = devices
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.initialized = False
        self.states = [torch.full((STATE_BYTES,), i, dtype=torch.uint8) for i in range(devices)]
        self.module = types.ModuleType("torch_npu.npu")
        # What torch.autocast asks a device's module for; torch 2.1 for all of them.
        self.module.__dict__.update(
            get_amp_supported_dtype=lambda: [torch.float16, torch.bfloat16],
            is_autocast_enabled=lambda: False,
            set_autocast_enabled=lambda enabled: None,
            get_autocast_dtype=lambda: torch.float16,
            set_autocast_dtype=lambda dtype: None,
        )
        self.package = types.ModuleType("torch_npu")
        self.package.__dict__.update(npu=self.module, __version__=version)
        for name, entry in read_table()[version].items():
            self._add(name, entry.kind, entry.signature)

    def install(self, monkeypatch: Any) -> None:
        """Make `import torch_npu` and `torch.npu` find it, and torch know the device type."""
        rename: Any = vars(torch.utils)["rename_privateuse1_backend"]
        rename("npu")
        monkeypatch.setitem(sys.modules, "torch_npu", self.package)
        monkeypatch.setattr(torch, "npu", self.module, raising=False)
        if hasattr(torch, "get_device_module"):  # it caches the modules that it has seen
            uncached = getattr(torch.get_device_module, "__wrapped__", torch.get_device_module)
            monkeypatch.setattr(torch, "get_device_module", uncached)

    def called(self, name: str) -> list[dict[str, Any]]:
        """Return the arguments of each call of a name."""
        return [arguments for called, arguments in self.calls if called == name]

    def _add(self, name: str, kind: str, signature: str) -> None:
        owner: Any = self.module
        *path, last = name.split(".")
        for step in path:
            if not hasattr(owner, step):
                setattr(owner, step, types.SimpleNamespace())
            owner = getattr(owner, step)
        if name == "mstx" or hasattr(owner, last):
            return
        value: Any
        if kind == "function":
            value = self._function(name, signature)
        elif kind == "class" and signature:
            value = self._class(name, signature)
        elif kind == "attribute":
            value = ()
        else:
            value = type(last, (), {})
        setattr(owner, last, value)

    def _function(self, name: str, signature: str) -> Callable[..., Any]:
        answer = getattr(self, "_" + name.replace(".", "_"), None)

        def record(arguments: dict[str, Any]) -> Any:
            self.calls.append((name, arguments))
            return answer(**arguments) if answer is not None else None

        made: Callable[..., Any] = _compiled(
            f"def call{signature}: return record(locals())", record=record
        )
        return made

    def _class(self, name: str, signature: str) -> type:
        if name == "amp.GradScaler":
            bases: tuple[type, ...] = (torch.cuda.amp.GradScaler,)
        else:
            bases = ()

        def record(arguments: dict[str, Any]) -> None:
            made = arguments.pop("self")
            self.calls.append((name, arguments))
            for key, value in arguments.items():
                setattr(made, key, value)
            made._enabled = arguments.get("enabled", True)

        init = _compiled(
            f"def __init__(self, {signature[1:-1]}): record(dict(locals()))", record=record
        )
        nothing = {"__enter__": lambda self: None, "__exit__": lambda self, *exc_info: None}
        return type(name.rpartition(".")[2], bases, {"__init__": init, **nothing})

    # What some functions answer; the rest return None.

    def _is_available(self) -> bool:
        return self.devices > 0

    def _device_count(self) -> int:
        return self.devices

    def _current_device(self) -> int:
        self.initialized = True
        return 0

    def _is_initialized(self) -> bool:
        return self.initialized

    def _is_bf16_supported(self, including_emulation: bool | None = None) -> bool:
        return True

    def _get_device_name(self, device_name: Any = None) -> str:
        return f"fake NPU {device_name}"

    def _get_device_properties(self, device_name: Any = None) -> Any:
        return types.SimpleNamespace(name="fake NPU", total_memory=TOTAL_MEMORY)

    def _memory_reserved(self, device: Any = None) -> int:
        return 1 << 30

    def _get_rng_state(self, device: Any = "npu") -> torch.Tensor:
        return self.states[device if isinstance(device, int) else 0].clone()

    def _get_rng_state_all(self) -> list[torch.Tensor]:
        return [state.clone() for state in self.states]

    def _set_rng_state(self, new_state: torch.Tensor, device: Any = "npu") -> None:
        self.states[device if isinstance(device, int) else 0] = new_state.clone()

    def _set_rng_state_all(self, new_states: Any) -> None:
        for index, state in enumerate(new_states):
            self.states[index] = state.clone()

    def _mstx_range_start(self, message: str, stream: Any, domain: str) -> int:
        return len(self.called("mstx.range_start"))


def _compiled(source: str, **names: Any) -> Any:
    scope: dict[str, Any] = {"torch": torch, **names}
    exec(source, scope)
    return next(value for key, value in scope.items() if key in ("call", "__init__"))
