"""Asks torch, torch_npu and the shim about this machine; a program for a process of its own.

It prints a line of JSON when it begins a step and one with what it learned, so that whoever reads
them knows at which step the process died. Usage: ``probe.py FOLDER [--memory]``: the shim lies in
FOLDER; with --memory each device is started to tell how much of its memory is free.
"""

from __future__ import annotations

import os
import sys

if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):  # noqa: PTH100, PTH120
    del sys.path[0]  # modules beside this file are no modules of their own

import importlib.util
import json
import logging
import warnings
from typing import Any


class _Heard(logging.Handler):
    """Keeps what the shim logs about its choice."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def main(shim: str, *, memory: bool) -> None:
    """Go through the steps; one that fails is told, and the next one is tried."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what packages print as they are imported is no answer

    def tell(step: str, **facts: Any) -> None:
        print(json.dumps({"step": step, **facts}), file=answers, flush=True)

    tell("torch")
    try:
        import torch
    except Exception as error:  # a broken installation raises what it likes
        tell("torch", error=_said(error))
        return
    version: Any = torch.version
    tell(
        "torch",
        version=str(torch.__version__),
        file=torch.__file__,
        cuda=version.cuda,
        hip=getattr(version, "hip", None),
    )
    if importlib.util.find_spec("torch_npu") is not None:
        tell("torch_npu")
        try:
            torch_npu = importlib.import_module("torch_npu")
        except Exception as error:
            tell("torch_npu", error=_said(error))
        else:
            tell("torch_npu", version=str(torch_npu.__version__), file=torch_npu.__file__)
    tell("transfer_to_npu", active="torch_npu.contrib.transfer_to_npu" in sys.modules)
    _ask_shim(tell, shim, memory=memory)


def _ask_shim(tell: Any, shim: str, *, memory: bool) -> None:
    tell("shim")
    sys.path.append(shim)
    heard = _Heard()
    logger = logging.getLogger("porter_runtime")
    logger.setLevel(logging.INFO)
    logger.addHandler(heard)
    import torch

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            import porter_runtime as accel

            backend, count = accel.device_type, accel.device_count()
        except Exception as error:
            tell("shim", error=_said(error))
            return
    said = [str(each.message) for each in warned if issubclass(each.category, RuntimeWarning)]
    tell("shim", backend=backend, count=count, log=heard.lines, warnings=said)
    if not count:
        return
    tell("use")
    try:
        total = (torch.ones(4, device=accel.device_type) + 1).sum().item()
    except Exception as error:
        tell("use", error=_said(error))
        return
    tell("use", sum=total)
    if memory:
        tell("memory")
        try:
            tell("memory", devices=[accel.mem_get_info(index) for index in range(count)])
        except Exception as error:
            tell("memory", error=_said(error))


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main(sys.argv[1], memory="--memory" in sys.argv[2:])
