"""Other libraries: their imports, their arguments for devices, what is built for CUDA."""

from __future__ import annotations

import pytest

from porter.engine import rewrite_source, triggers
from porter_rules.cuda_packages import CUDA_ONLY, PORTABLE

IMPORT = "import porter_runtime as accel\n"
Found = dict[int, set[tuple[str, str]]]


def port(text: str) -> tuple[str, Found]:
    """Port a module; return its text without the shim's import, and the findings by line."""
    result = rewrite_source(text.encode())
    assert not result.failed, result.findings
    found: Found = {}
    for f in result.findings:
        found.setdefault(f.line, set()).add((f.code, f.level.value))
    return result.output.decode().replace(IMPORT, "", 1), found


def test_every_package_of_the_tables_makes_a_file_worth_a_look() -> None:
    assert {*CUDA_ONLY, *PORTABLE, "torch_npu"} == {p.decode() for p in triggers.PACKAGES}


@pytest.mark.parametrize("package", sorted(CUDA_ONLY))
@pytest.mark.parametrize("form", ["import {}", "import {}.x as y", "from {} import x"])
def test_an_unguarded_import_of_a_cuda_only_package_is_pointed_out(package: str, form: str) -> None:
    text = form.format(package) + "\n"
    ported, found = port(text)
    assert ported == text
    assert found == {1: {("PTR701", "manual")}}


@pytest.mark.parametrize(
    ("before", "line"),
    [
        ("try:\n    {}\nexcept ImportError:\n    pass\n", 2),
        ("try:\n    import x\nexcept ImportError:\n    {}\n", 4),
        ("if available():\n    {}\n", 2),
        ("if a:\n    pass\nelse:\n    {}\n", 4),
        ("def f():\n    {}\n", 2),
        ("class A:\n    def f(self):\n        {}\n", 3),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    {}\n", 3),
    ],
)
def test_a_guarded_import_is_noted(before: str, line: int) -> None:
    text = before.format("from flash_attn import flash_attn_func")
    ported, found = port(text)
    assert ported == text
    assert found == {line: {("PTR701", "note")}}


def test_flash_attention_names_what_to_use() -> None:
    text = (
        "from flash_attn import flash_attn_func\n"
        "def att(q, k, v): return flash_attn_func(q, k, v, causal=True)\n"
    )
    result = rewrite_source(text.encode())
    assert result.output.decode() == text
    [finding] = result.findings
    assert finding.line == 1
    assert "scaled_dot_product_attention" in finding.message
    assert "npu_fusion_attention" in finding.message


def test_the_cuda_of_another_library_is_reported_once_and_left() -> None:
    text = "from numba import cuda\n@cuda.jit\ndef k(a): a[cuda.grid(1)] = 0\n"
    ported, found = port(text)
    assert ported == text
    assert found == {1: {("PTR701", "manual")}}


def test_device_map() -> None:
    ported, _ = port(
        "import torch\n"
        "from transformers import AutoModel\n"
        'a = AutoModel.from_pretrained("x", device_map="cuda")\n'
        'b = AutoModel.from_pretrained("x", device_map="auto")\n'
        'c = AutoModel.from_pretrained("x", device_map={"": torch.cuda.current_device()})\n'
    )
    assert ported == (
        "import torch\n"
        "from transformers import AutoModel\n"
        'a = AutoModel.from_pretrained("x", device_map=accel.device_type)\n'
        'b = AutoModel.from_pretrained("x", device_map="auto")\n'
        'c = AutoModel.from_pretrained("x", '
        'device_map={"": accel.device_map_value(accel.current_device())})\n'
    )


def test_lightning_is_left_to_a_person() -> None:
    text = (
        "from lightning.pytorch import Trainer\n"
        't = Trainer(accelerator="gpu", devices=2, strategy="ddp")\n'
    )
    ported, found = port(text)
    assert ported == text
    assert found == {2: {("PTR706", "manual")}}


def test_arguments_beside_a_lightning_accelerator_are_ported() -> None:
    ported, found = port(
        'import torch\nt = Trainer(accelerator="gpu", devices=torch.cuda.device_count())\n'
    )
    assert ported == (
        'import torch\nt = Trainer(accelerator="gpu", devices=accel.device_count())\n'
    )
    assert ("PTR706", "manual") in found[2]


def test_helpers_that_ask_for_cuda_alone() -> None:
    ported, _ = port(
        "from transformers.utils import is_torch_bf16_gpu_available\n"
        "bf16 = is_torch_bf16_gpu_available()\n"
        'ok = (cfg.bf16 == "auto" and is_torch_bf16_gpu_available()) or cfg.bf16 is True\n'
    )
    assert ported == (
        "from transformers.utils import is_torch_bf16_gpu_available\n"
        "bf16 = accel.is_bf16_supported()\n"
        'ok = (cfg.bf16 == "auto" and accel.is_bf16_supported()) or cfg.bf16 is True\n'
    )


@pytest.mark.parametrize(
    "statement",
    [
        'm = AutoModel.from_pretrained("x", load_in_8bit=True, device_map="auto")',
        "c = BitsAndBytesConfig(load_in_4bit=True)",
        'kwargs = {"attn_implementation": "flash_attention_2"}',
        'config._attn_implementation = "flash_attention_2"',
        'a = TrainingArguments(output, optim="paged_adamw_8bit", bf16=True)',
        'a = SFTConfig(output, optim="adamw_bnb_8bit")',
        "a = TrainingArguments(output, tf32=True)",
    ],
)
def test_arguments_that_need_cudas_kernels_are_pointed_out_by_name(statement: str) -> None:
    result = rewrite_source(f"{statement}\n".encode())
    assert result.output.decode() == f"{statement}\n"
    [finding] = result.findings
    assert (finding.code, finding.level.value) == ("PTR704", "manual")


def test_a_guard_stays_with_the_build_that_it_guards() -> None:
    text = (
        "import torch\nfrom torch.utils.cpp_extension import BuildExtension, CUDAExtension\n"
        "modules = []\n"
        "if torch.cuda.is_available():\n"
        '    modules.append(CUDAExtension("roi", ["roi.cpp", "roi.cu"]))\n'
        'setup(cmdclass={"build_ext": BuildExtension}, ext_modules=modules)\n'
    )
    ported, found = port(text)
    assert ported == text
    assert ("PTR702", "manual") in found[5]


def test_triton_kernels_are_reported_and_their_bodies_left() -> None:
    text = (
        "import triton\nimport triton.language as tl\n"
        "@triton.jit\ndef k(p, n: tl.constexpr):\n    tl.store(p, tl.load(p) + n)\n"
    )
    ported, found = port(text)
    assert ported == text
    assert found[3] == {("PTR702", "manual")}
    assert set(found) == {1, 2, 3}


def test_a_runtime_patch_is_pointed_out() -> None:
    text = "import torch\nimport torch_npu\nfrom torch_npu.contrib import transfer_to_npu\n"
    ported, found = port(text)
    assert ported == text
    assert found == {2: {("PTR707", "note")}, 3: {("PTR707", "manual")}}


def test_nvidia_smi_is_pointed_out_where_it_is_run_and_not_where_it_is_named() -> None:
    text = (
        "import subprocess\n"
        'subprocess.run(["nvidia-smi", "-L"])\n'
        'logger.info("see nvidia-smi for the use of each GPU")\n'
        'raise FileNotFoundError("nvidia-smi: command not found")\n'
    )
    ported, found = port(text)
    assert ported == text
    assert found == {2: {("PTR610", "manual")}}
