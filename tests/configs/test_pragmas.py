"""Pragmas mean in files of configuration what they mean in Python."""

from __future__ import annotations

import pytest

from porter.configs import rewrite_config
from porter.model import IDLE_PRAGMA, Options
from tests.configs.harness import scan


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "device: cuda  # porter: ignore[PTR801] only here\n"),
        ("a.yaml", "# porter: ignore[PTR8] only here\n\ndevice: cuda\n"),
        ("a.yaml", "device: 'cuda'   #porter:ignore[ ptr801 ] only here\n"),
        ("a.toml", 'device = "cuda" # porter: ignore[PTR801] only here\n'),
        ("a.ini", "[x]\n; porter: ignore[PTR801] only here\ndevice = cuda\n"),
        ("a.json", '{\n  // porter: ignore[PTR801] only here\n  "device": "cuda"\n}'),
        ("a.sh", "python x.py \\\n  --device cuda  # porter: ignore[PTR801] only here\n"),
        ("a.sh", "# porter: ignore[PTR801] only here\npython x.py \\\n  --device cuda\n"),
        ("Dockerfile", "# porter: ignore[PTR813] only here\nFROM nvidia/cuda:12.1.0\n"),
        ("requirements.txt", "cupy  # porter: ignore[PTR815] only here\n"),
        ("ci.yml", "run: |\n  nvidia-smi  # porter: ignore[PTR814] only here\n"),
    ],
)
def test_a_pragma_keeps_its_line(name: str, text: str) -> None:
    result = scan(name, text)
    assert [s.reason for s in result.suppressed] == ["only here"]
    assert result.findings == ()


def test_a_file_can_be_skipped() -> None:
    assert scan("a.yaml", "device: cuda\n# porter: skip-file for CUDA\n").findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "device: cuda  # porter: ignore\n",
        "device: cuda  # porter: ignore[PTR803] no\n",
        "device: cuda  # porter: ignore[PTR999] no\n",
        "a: 1\n# porter: ignore[PTR801] no\nb: 1\ndevice: cuda\n",
    ],
)
def test_a_pragma_that_keeps_nothing_is_reported(text: str) -> None:
    codes = sorted(f.code for f in scan("a.yaml", text).findings)
    assert codes == [IDLE_PRAGMA, "PTR801"]


def test_without_any_site_too() -> None:
    (finding,) = scan("a.yaml", "a: 1  # porter: ignore[PTR801] no\n").findings
    assert (finding.code, finding.line, finding.column) == (IDLE_PRAGMA, 1, 7)


def test_a_rule_that_does_not_take_part_leaves_its_pragma_alone() -> None:
    text = b"device: cuda  # porter: ignore[PTR801] no\n"
    options = Options(ignore=("PTR801",))
    assert rewrite_config(text, name="a.yaml", options=options).findings == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "x: 'a # porter: skip-file'\ndevice: cuda\n"),
        ("a.json", '{"x": "a // porter: skip-file", "device": "cuda"}'),
        ("a.toml", 'x = "a # porter: skip-file"\ndevice = "cuda"\n'),
    ],
)
def test_the_text_of_a_value_is_no_pragma(name: str, text: str) -> None:
    assert [f.code for f in scan(name, text).findings] == ["PTR801"]


def test_what_a_pragma_keeps_is_not_rewritten() -> None:
    kept = "export CUDA_VISIBLE_DEVICES=0  # porter: ignore[PTR805] no"
    text = f"{kept}\nexport CUDA_VISIBLE_DEVICES=1\n"
    lines = scan("a.sh", text, configs=True).output.decode().splitlines()
    assert lines[0] == kept
    assert lines[1] == "export CUDA_VISIBLE_DEVICES=1 ASCEND_RT_VISIBLE_DEVICES=1"
