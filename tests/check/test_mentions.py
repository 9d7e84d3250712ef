"""Words about CUDA are not CUDA."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.harness import Porter

TEXT = '''\
"""Replaces torch.cuda.set_rng_state; call x.cuda() first."""
# torch.cuda.synchronize() was here
MSG = "install cuda>=12 or run with nccl"
url = "https://example.org/cuda:0/torch.cuda"
cuda_lr = 0.1
'''


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        'import logging\nlogging.info("running on cuda:%d with nccl", 0)\n',
        "def use_cuda(cuda=None):\n    'Whether to use cuda.'\n    return cuda\n",
        'raise RuntimeError(f"no cuda device for {name}: call .cuda() on it")\n',
        'doc = """\n>>> model.cuda()\n>>> torch.device("cuda:0")\n"""\n',
    ],
)
def test_comments_docstrings_log_texts_urls_and_identifiers(
    folder: Path, porter: Porter, text: str
) -> None:
    (folder / "st.py").write_text(text)
    result = porter("check", "st.py")
    assert (result.code, result.out) == (0, b"")
    assert porter("rewrite", ".").code == 0
    assert (folder / "st.py").read_text() == text


def test_an_intended_branch_for_cuda_is_no_finding(folder: Path, porter: Porter) -> None:
    (folder / "br.py").write_text(
        "import torch\ndef f(t):\n    if t.device.type == 'cuda':\n"
        "        torch.cuda.nvtx.range_push('f')\n    return t\n"
    )
    assert porter("check", "br.py").code == 0
