"""The record of what was asked of a device."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emulated.conftest import Run

PROGRAM = """
import torch
device = torch.accelerator.current_accelerator().type
module = torch.get_device_module(device)
torch.manual_seed(3)
module.set_device(0)
x = torch.ones(2).to(device, non_blocking=True)
y = x + 1
module.synchronize()
event = module.current_stream().record_event()
stream = module.Stream()
with module.stream(stream):
    stream.wait_event(event)
    torch.rand(2, device=device)
module.empty_cache()
assert y.sum().item() == 4
"""


@pytest.mark.parametrize("backend", ["npu", "cuda"])
def test_each_call_is_a_line_in_order(backend: str, tmp_path: Path, run_emulated: Run) -> None:
    trace = tmp_path / "calls"
    child = run_emulated("-c", PROGRAM, backend=backend, EMULATED_TRACE=str(trace))
    assert child.returncode == 0, child.stderr
    seen = [line.replace(backend, "device") for line in trace.read_text().splitlines()]
    assert "set device 0" in seen
    assert "current stream stream 1 on device device:0" in seen
    # The two modules differ in how they go back to the stream and device that they found.
    assert [line for line in seen if not line.startswith(("set device", "current stream"))] == [
        "seed device:0 3",
        "copy cpu to device:0 without waiting",
        "aten::add.Tensor 0",
        "synchronize device:0",
        "record event on stream 0 on device device:0",
        "new stream device:0",
        "wait for event on stream 1 on device device:0",
        "aten::uniform_ 0",
        "empty cache",
        "aten::sum.dim_IntList 0",
        "aten::_local_scalar_dense 0",
    ]


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path, run_emulated: Run) -> None:
    child = run_emulated("-c", PROGRAM, EMULATED_TRACE=str(tmp_path / "missing" / "calls"))
    assert "EMULATED_TRACE: can't write to" in child.stderr
