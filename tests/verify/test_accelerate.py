"""A library that knows CUDA alone trains on the CPU beside an NPU, silently: verify tells."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.verify.conftest import findings, judged, train

PROGRAM = """\
import torch
from accelerate import Accelerator

torch.manual_seed(0)
accelerator = Accelerator()
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
batches = torch.utils.data.DataLoader(torch.randn(64, 4), batch_size=8)
model, optimizer, batches = accelerator.prepare(model, optimizer, batches)
for batch in batches:
    loss = (model(batch) - batch.sum(1, keepdim=True)).square().mean()
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
print("trained", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("pkg_resources") is None, reason="needs setuptools<80")
def test_the_unported_accelerate_is_caught(project: Callable[[str], Path], tmp_path: Path) -> None:
    folder = tmp_path / "original"
    shutil.copytree(project("accelerate==0.20.3") / "accelerate", folder / "accelerate")
    runs = [train(folder, PROGRAM, backend) for backend in ("cpu", "npu-emulated")]
    for run in runs:
        assert run.status == "trained", run.tail
        assert run.tail[-1] == "trained"
    outcome = judged(*runs)
    assert outcome.exit_code == 1
    (finding,) = findings(outcome, "trained-on-cpu")
    assert finding.run == "npu-emulated"
    assert finding.message == ("it trained on cpu, silently: no parameter of AdamW is on the npu")
    asked = findings(outcome, "asked")
    assert {str(found.path).partition("/")[0] for found in asked} == {"accelerate"}
    assert any("torch.cuda.is_available" in found.message for found in asked)
