"""Shell text: which words, where, and what they speak of."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.configs.read.shell import commands
from tests.configs.harness import found, marked, scan


def words(text: str) -> list[list[str]]:
    return [[word.text for word in command.words] for command in commands(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b; c && d | e & f", [["a", "b"], ["c"], ["d"], ["e"], ["f"]]),
        ("a \\\n  b # c\nd", [["a", "b"], ["d"]]),
        ("a \\\r\n  b\r\nd\r\n", [["a", "b"], ["d"]]),
        ("a 'b c' \"d e\"f x#y", [["a", "b c", "d ef", "x#y"]]),
        ("a > /dev/null 2>&1 < b", [["a", "/dev/null", "b"]]),
        ("a $(b $(c)) `d`", [["a", "$(b $(c))", "`d`"], ["b", "$(c)"], ["c"], ["d"]]),
        ('a "$(b "c d")" e', [["a", '$(b "c d")', "e"], ["b", "c d"]]),
        ("cat << 'EOF' > x\na b\nEOF\nc", [["cat", "x"], ["c"]]),
        ("cat <<-EOF\n\ta b\n\tEOF\nc", [["cat"], ["c"]]),
        ("bash -ec 'a b; c'", [["bash", "-ec", "a b; c"], ["a", "b"], ["c"]]),
        ("X=${Y:-a b} c", [["X=${Y:-a b}", "c"]]),
        ("A=(b c)", [["A="], ["b", "c"]]),
        ("a 'b", [["a", "b"]]),
        ("a $(b", [["a", "$(b"]]),
        ("\\", [[""]]),
    ],
)
def test_words(text: str, expected: list[list[str]]) -> None:
    assert words(text) == expected


@given(st.lists(st.text(min_size=1, max_size=6).filter(lambda t: "\0" not in t), min_size=1))
def test_quoted_words_survive(texts: list[str]) -> None:
    line = " ".join("'" + t.replace("'", "") + "'" for t in texts)
    (command,) = commands(line)
    assert [word.text for word in command.words] == shlex.split(line, posix=True)
    assert [line[w.start : w.end] for w in command.words] == [
        "'" + t.replace("'", "") + "'" for t in texts
    ]


@given(st.text(st.sampled_from("ab '\"\\$(){}`;|&<>\n#=-"), max_size=30))
def test_no_text_is_too_odd(text: str) -> None:
    for command in commands(text):
        for word in command.words:
            assert 0 <= word.start < word.end <= len(text)


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("nvidia-smi --query-gpu=name", ["PTR814"]),
        ("watch -n 1 nvidia-smi", ["PTR814"]),
        ("/usr/local/cuda/bin/nvcc --version", ["PTR814"]),
        ("N=$(nvidia-smi -L | wc -l)", ["PTR814"]),
        ("if ! nvidia-smi; then exit 1; fi", ["PTR814"]),
        ("sudo nvidia-smi -pm 1 && python x.py", ["PTR814"]),
        ("accelerate launch --mixed_precision fp8 x.py", ["PTR809"]),
        ("torchrun x.py --device cuda --tf32 True", ["PTR801", "PTR809"]),
        ("python x.py --device=cuda:1", ["PTR801"]),
        ("python -m x model.device=cuda +trainer.accelerator=gpu", ["PTR801", "PTR802"]),
        ('ARGS="\n  --distributed-backend nccl \\\n  --use-flash-attn\n"', ["PTR803", "PTR806"]),
        ("ARGS=(\n --device cuda\n --lr 1\n)", ["PTR801"]),
        ("uv pip install --index-url https://download.pytorch.org/whl/cu121 torch", ["PTR816"]),
        ("python -m pip install 'flash-attn>=2' -r requirements.txt", ["PTR815"]),
        ("mamba create -n x python=3.10 pytorch-cuda=12.1 -c nvidia", ["PTR815"]),
        ("docker run --gpus all -it img --gpus 2", ["PTR812"]),
        ("srun --gres=gpu:1 -p part python x.py --gpus 8", ["PTR812"]),
        ("srun -p part --ntasks 8 python x.py --gpus 8", []),
        ("echo nvidia-smi --device cuda", []),
        ("grep -r nvidia-smi .", []),
        ("git commit -m 'nvidia-smi and --device cuda'", []),
        ("# python x.py --device cuda", []),
        ("cat > run.sh <<EOF\nnvidia-smi\nEOF", []),
        ("python x.py --name cuda --desc 'cuda:0 nccl'", []),
        ("python x.py --device $DEVICE  # cuda", []),
        ("cd /usr/local/cuda/nvcc", []),
    ],
)
def test_what_a_line_is_reported_for(line: str, codes: list[str]) -> None:
    assert [code for code, _, _ in found("run.sh", f"{line}\n")] == codes


def test_places_in_long_commands() -> None:
    text = (
        "#!/bin/sh\n# é\ntorchrun \\\n    x.py \\\n    --device   cuda:0 \\\n    --é nvidia-smi\n"
    )
    (finding,) = [f for f in scan("run.sh", text).findings if f.code == "PTR801"]
    assert (finding.line, finding.column, marked(finding)) == (5, 5, "--device   cuda:0")


def test_a_script_is_told_by_its_first_line() -> None:
    assert found("bin/train", "#!/usr/bin/env bash\nnvidia-smi\n") == [("PTR814", 2, 1)]


def test_a_script_inside_of_yaml_has_its_own_places() -> None:
    text = 'steps:\n- run: "nvidia-smi"\n- run: >-\n    a\n    nvidia-smi\n'
    assert found(".github/workflows/ci.yml", text) == [("PTR814", 2, 9), ("PTR814", 5, 5)]
