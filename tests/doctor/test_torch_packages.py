from __future__ import annotations

import pytest

from porter.doctor import State, torch_packages
from porter.doctor.probing import Said


@pytest.mark.parametrize(
    ("error", "mend"),
    [
        ("ModuleNotFoundError: No module named 'yaml'", "pip install pyyaml"),
        ("ModuleNotFoundError: No module named 'attr'", "pip install attr"),
        (
            "ImportError: libascend_hal.so: cannot open shared object file",
            "mount /usr/local/Ascend",
        ),
        ("ImportError: libhccl.so: cannot open shared object file", "set_env.sh"),
        ("ImportError: libtorch_npu.so: undefined symbol: _ZN3c10", "torch_npu==2.5.1.post1"),
        ("RuntimeError: something new", 'python -c "import torch_npu" shows all of it'),
    ],
)
def test_an_error_of_the_import_has_its_mend(error: str, mend: str) -> None:
    torch = {"version": "2.5.1", "file": "/torch/__init__.py", "cuda": None}
    section = torch_packages.examine(Said({"torch": torch, "torch_npu": {"error": error}}))
    (problem,) = (entry for entry in section.entries if entry.state is State.PROBLEM)
    assert error in problem.text
    assert mend in problem.mend


@pytest.mark.parametrize(
    ("torch", "made"),
    [
        ({"cuda": "12.4"}, "built for CUDA 12.4"),
        ({"cuda": None}, "built without CUDA"),
        ({"cuda": None, "hip": "6.2"}, "built for ROCm 6.2"),
    ],
)
def test_what_torch_is_built_for(torch: dict[str, str | None], made: str) -> None:
    facts = {"version": "2.5.1", "file": "/torch/__init__.py", **torch}
    section = torch_packages.examine(Said({"torch": facts}))
    assert made in section.entries[0].text


def test_transfer_to_npu() -> None:
    torch = {"version": "2.5.1", "file": "/torch/__init__.py", "cuda": None}
    section = torch_packages.examine(Said({"torch": torch, "transfer_to_npu": {"active": True}}))
    assert section.entries[-1].name == "transfer_to_npu"
    assert section.entries[-1].state is State.PROBLEM
