"""On CUDA nothing changes: what rules write does what stood there before, call for call.

The text of each rule's `rewrites` examples, before and after, is executed against a torch that
records (recording/); the ported text imports the shim itself. The logs have to be equal.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from recording.run import run

from porter.engine import rewrite_source
from porter.rule import all_rules

WORLDS: list[dict[str, Any]] = [
    {"truth": True},
    {"truth": False},
    {"truth": True, "fails": "CUDA out of memory. Tried to allocate 2.00 GiB"},
    {"truth": False, "fails": "CUDA error: device-side assert triggered"},
]

EXAMPLES = [
    pytest.param(rule.code, before, id=f"{rule.code}-{n}")
    for rule in all_rules()
    for n, (before, _) in enumerate(rule.rewrites)
]


def ported(text: str) -> str:
    return rewrite_source(text.encode()).output.decode()


@pytest.mark.parametrize(("code", "before"), EXAMPLES)
def test_the_port_makes_the_same_calls(code: str, before: str) -> None:
    after = ported(before)
    recorded = []
    handles_errors = "except" in before or "str(e" in before or "memory" in before
    for world in WORLDS if handles_errors else WORLDS[:2]:
        log = run(before, **world)
        assert log == run(after, **world), world
        recorded += log
    assert recorded, "the example does nothing that can be compared"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x.cuda()", "x.to('cpu')"),
        ("x.cuda()", "x"),
        ("x.cuda(1)", "x.cuda()"),
        ("x.cuda(); y.cuda()", "y.cuda(); x.cuda()"),
        ("x.cuda(non_blocking=True)", "x.to('cuda')"),
        ("torch.cuda.amp.autocast(False)", "torch.autocast('cuda', False)"),
        ("torch.cuda.amp.autocast()", "torch.autocast('cuda')"),
        ("torch.cuda.amp.autocast(dtype=d)", "torch.autocast('cuda', dtype=d)"),
        ("torch.cuda.amp.GradScaler(2.0)", "torch.amp.GradScaler(2.0)"),
        ("torch.cuda.synchronize()", "torch.cuda.empty_cache()"),
        ("if x.is_cuda: pass", "if x.is_cpu: pass"),
        ("torch.load(p)", "torch.load(p, map_location='cpu')"),
        ("args.backend = 'nccl'", "args.backend = 'gloo'"),
        ("def f(device='cuda'): ...", "def f(device='cpu'): ..."),
        ("class A:\n  def m(self): self.x.cuda()", "class A:\n  def m(self): pass"),
        ("m.to('cuda', torch.half)", "m.to('cuda')"),
    ],
)
def test_another_behaviour_is_another_log(one: str, other: str) -> None:
    assert run(one, truth=True) != run(other, truth=True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x.cuda()", "x.to('cuda')"),
        ("x.cuda(1, True)", "x.to(torch.device('cuda', 1), non_blocking=True)"),
        ("torch.cuda.amp.autocast(False)", "torch.autocast('cuda', torch.float16, False, True)"),
        ("torch.cuda.amp.GradScaler(2.0)", "torch.amp.GradScaler('cuda', 2.0)"),
        ("torch.load(p)", "torch.load(p, None)"),
        ("torch.cuda.memory.empty_cache()", "torch.cuda.empty_cache()"),
    ],
)
def test_what_torch_takes_for_the_same_is_the_same_log(one: str, other: str) -> None:
    assert run(one, truth=True) == run(other, truth=True)
