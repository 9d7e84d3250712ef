"""The CUDA trap records what the user's code asks of torch.cuda, and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from porter.vendor import vendor
from porter.verify.outcome import Trapped
from tests.verify.conftest import train
from tests.verify.programs import PORT

pytestmark = pytest.mark.skipif(
    torch.cuda.is_available(), reason="much of this is only silent without CUDA"
)

SILENT = {
    "torch.cuda.manual_seed_all(1)": "torch.cuda.manual_seed_all",
    "torch.cuda.empty_cache()": "torch.cuda.empty_cache",
    "torch.cuda.max_memory_allocated()": "torch.cuda.max_memory_allocated",
    "torch.cuda.is_available()": "torch.cuda.is_available",
    "torch.cuda.device_count()": "torch.cuda.device_count",
    "torch.cuda.amp.GradScaler()": "torch.cuda.amp.GradScaler",
    "torch.cuda.amp.autocast()": "torch.cuda.amp.autocast",
    "torch.autocast('cuda')": "torch.autocast('cuda')",
    "torch.autocast(device_type='cuda')": "torch.autocast('cuda')",
    "torch.amp.GradScaler()": "torch.amp.GradScaler('cuda')",
    "torch.amp.GradScaler(device='cuda')": "torch.amp.GradScaler('cuda')",
    "torch.cuda.device(0)": "torch.cuda.device",
    "torch.set_default_device(torch.device('cuda')); torch.set_default_device(None)": (
        "torch.set_default_device('cuda')"
    ),
}
LOUD = {
    "torch.ones(1).cuda()": "torch.Tensor.cuda",
    "torch.nn.Linear(1, 1).cuda()": "torch.nn.Module.cuda",
    "torch.ones(1).untyped_storage().cuda()": "torch.UntypedStorage.cuda",
    "torch.ones(1).to('cuda')": "device 'cuda'",
    "torch.zeros(1, device='cuda:0')": "device 'cuda'",
    "torch.nn.Linear(1, 1, device='cuda')": "device 'cuda'",
    "torch.load('saved.pt', map_location='cuda')": "torch.load(map_location='cuda')",
    "torch.distributed.init_process_group('nccl')": "torch.distributed.init_process_group('nccl')",
    "torch.cuda.synchronize()": "torch.cuda.synchronize",
    "torch.cuda.current_device()": "torch.cuda.current_device",
}
each_backend = pytest.mark.parametrize(
    "backend", ["cpu", pytest.param("npu-emulated", marks=pytest.mark.slow)]
)
ELSEWHERE = [
    "torch.manual_seed(1)",
    "torch.autocast('cpu')",
    "torch.amp.GradScaler('cpu')",
    "torch.load('saved.pt', map_location='cpu')",
    "torch.device('cuda')",
    "accel.manual_seed_all(1)",
    "accel.autocast()",
    "accel.autocast(enabled=False)",
    "accel.GradScaler()",
    "accel.custom_fwd",
    "accel.empty_cache()",
    "accel.Stream()",
    "torch.random.fork_rng().__enter__()",
]


def trapped(program: str, folder: Path, backend: str = "cpu") -> list[Trapped]:
    run = train(folder / "port", program, backend)
    assert not any(process.faults for process in run.processes)
    return run.trapped


def in_turn(statements: list[str]) -> str:
    """Returns a program that does each on a line of its own, whatever it raises."""
    lines = [
        "import torch",
        "import porter_runtime as accel",
        "torch.save(torch.ones(1), 'saved.pt')",
    ]
    for statement in statements:
        lines += ["try:", f"    {statement}", "except Exception:", "    pass"]
    return "\n".join(lines) + "\n"


@each_backend
def test_uses_of_cuda_are_recorded_with_their_lines(backend: str, tmp_path: Path) -> None:
    uses = {**SILENT, **LOUD}
    found = [(use.line, use.name) for use in trapped(in_turn(list(uses)), tmp_path, backend)]
    assert found == [(5 + 4 * index, name) for index, name in enumerate(uses.values())]


@pytest.mark.slow
def test_what_only_asks_is_of_another_kind(tmp_path: Path) -> None:
    asked = [
        "torch.cuda.is_available()",
        "torch.cuda.device_count()",
        "torch.cuda.is_bf16_supported()",
    ]
    assert [use.kind for use in trapped(in_turn(asked), tmp_path)] == ["asked", "asked", "cuda"]


@each_backend
def test_the_shim_and_other_devices_are_not_recorded(backend: str, tmp_path: Path) -> None:
    assert trapped(in_turn(ELSEWHERE), tmp_path, backend) == []


def test_a_copy_of_the_shim_in_the_project_is_not_the_users(tmp_path: Path) -> None:
    package = tmp_path / "port" / "mine"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    vendor(package)
    program = in_turn(ELSEWHERE).replace("import porter_runtime as", "from mine import _accel as")
    assert trapped(program, tmp_path) == []


def test_libraries_outside_of_the_folder_are_not_the_users(tmp_path: Path) -> None:
    library = tmp_path / "library.py"
    library.write_text("import torch\n\n\ndef seed():\n    torch.cuda.manual_seed_all(1)\n")
    program = f"import sys\nsys.path.append({str(tmp_path)!r})\nimport library\nlibrary.seed()\n"
    assert trapped(program, tmp_path) == []


def test_a_library_that_is_verified_is_the_users(tmp_path: Path) -> None:
    """Be it called as it may: what counts is that it lies under the folder."""
    folder = tmp_path / "port" / "accelerate"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("import torch\ntorch.cuda.empty_cache()\n")
    (use,) = trapped("import accelerate\n" + PORT, tmp_path)
    assert (use.path, use.line) == ("accelerate/__init__.py", 2)


def test_children_carry_it_too(tmp_path: Path) -> None:
    program = (
        "import torch\n"
        "class Data(torch.utils.data.Dataset):\n"
        "    def __len__(self): return 4\n"
        "    def __getitem__(self, index):\n"
        "        torch.cuda.empty_cache()\n"
        "        return torch.ones(1)\n"
        "if __name__ == '__main__':\n"
        "    for method in ('fork', 'spawn'):\n"
        "        loader = torch.utils.data.DataLoader(\n"
        "            Data(), num_workers=2, multiprocessing_context=method)\n"
        "        assert len(list(loader)) == 4\n"
    )
    run = train(tmp_path / "port", program)
    assert run.exit_code == 0, run.tail
    (use,) = run.trapped
    assert (use.path, use.line, use.name) == ("train.py", 5, "torch.cuda.empty_cache")


@pytest.mark.slow
def test_on_cuda_nothing_is_recorded(tmp_path: Path) -> None:
    assert trapped(in_turn(list(SILENT)), tmp_path, "cuda-emulated") == []


@pytest.mark.slow
def test_a_path_that_is_given_relatively(tmp_path: Path) -> None:
    program = "import os, torch\nos.chdir('/')\ntorch.cuda.empty_cache()\n"
    run = train(tmp_path / "port", program, command=[sys.executable, "./train.py"])
    (use,) = run.trapped
    assert (use.path, use.line) == ("train.py", 3)
