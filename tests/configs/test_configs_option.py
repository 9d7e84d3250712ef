"""`--configs`: what is written, and what holds porter to it."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from porter import kinds
from porter.configs import guard, rewrite_config
from porter.model import Level, Options
from tests.configs.harness import scan

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CUDA, ASCEND = "CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES"


def test_each_byte_that_is_not_added_stays() -> None:
    text = (
        "\ufeff# é\r\nenv: # of the job\r\n    A:   'x'\r\n    CUDA_VISIBLE_DEVICES:   \"0,1\"\r\n"
        "    B: &b {CUDA_VISIBLE_DEVICES: 3 , C: 1}   # ok\r\n"
    )
    result = scan("a.yml", text, configs=True)
    added = [
        f'\r\n    {ASCEND}:   "0,1"',
        f", {ASCEND}: 3",
    ]
    output = result.output.decode()
    assert output != text
    for piece in added:
        assert output.count(piece) == 1
        output = output.replace(piece, "")
    assert output == text
    assert [f.level for f in result.findings] == [Level.REWRITTEN] * 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.sh", "CUDA_VISIBLE_DEVICES=0\nexport CUDA_VISIBLE_DEVICES\n"),
        ("a.sh", "export CUDA_VISIBLE_DEVICES=0,x\n"),
        ("a.sh", "CUDA_VISIBLE_DEVICES=0, python x.py\n"),
        ("a.sh", "CUDA_VISIBLE_DEVICES=0,0 python x.py\n"),
        ("a.sh", "CUDA_VISIBLE_DEVICES=1,0 python x.py\n"),
        ("a.sh", "CUDA_VISIBLE_DEVICES=GPU-8932f937 python x.py\n"),
        ("a.sh", "CUDA_VISIBLE_DEVICES=${GPUS:-0} python x.py\n"),
        ("a.yml", "env:\n  CUDA_VISIBLE_DEVICES: 0  # the first\n"),
        ("a.yml", "- {name: CUDA_VISIBLE_DEVICES, value: '0'}\n"),
        ("a.yml", "env: |\n  CUDA_VISIBLE_DEVICES=0\nCUDA_VISIBLE_DEVICES: ''\n"),
        ("Dockerfile", "ENV CUDA_VISIBLE_DEVICES 0\n"),
        ("Dockerfile", "ARG CUDA_VISIBLE_DEVICES=0\n"),
        ("Dockerfile", 'CMD ["env", "CUDA_VISIBLE_DEVICES=0", "python"]\n'),
        ("a.yml", "command: [env, CUDA_VISIBLE_DEVICES=0, python]\n"),
        ("a.json", '{"run": "CUDA_VISIBLE_DEVICES=\\"0\\" python"}\n'),
        ("Makefile", "export CUDA_VISIBLE_DEVICES=0\n"),
        ("a.env.sh", "declare -x CUDA_VISIBLE_DEVICES=0\n"),
    ],
)
def test_what_is_not_plain_is_left_to_a_person(name: str, text: str) -> None:
    result = scan(name, text, configs=True)
    assert result.output == text.encode()
    left = [f for f in result.findings if f.code == "PTR805"]
    assert left
    assert {f.level for f in left} == {Level.MANUAL}
    assert all(f.replacement is None for f in left)


@pytest.mark.parametrize(
    ("name", "text", "added"),
    [
        ("Makefile", "x:\n\t@CUDA_VISIBLE_DEVICES=0 pytest\n", f" {ASCEND}=0"),
        ("a.toml", '[env]\r\nCUDA_VISIBLE_DEVICES = "0"\r\nA = 1\r\n', f'\r\n{ASCEND} = "0"'),
        ("a.toml", 'env = { CUDA_VISIBLE_DEVICES = "0" }\n', f', {ASCEND} = "0"'),
        ("a.json", '{"run": "CUDA_VISIBLE_DEVICES=0 python"}', f" {ASCEND}=0"),
        ("a.json", '{\n "CUDA_VISIBLE_DEVICES" : "0"\n}', f', "{ASCEND}" : "0"'),
        ("a.yml", "script:\n  - CUDA_VISIBLE_DEVICES=0 pytest\n", f" {ASCEND}=0"),
        ("a.yml", "run: >-\n  a b\n  && env CUDA_VISIBLE_DEVICES='0' pytest\n", f" {ASCEND}='0'"),
        ("a.yml", "- env:\n    - 'CUDA_VISIBLE_DEVICES=0'\n", f"\n    - '{ASCEND}=0'"),
        ("tox.ini", "[testenv]\ncommands = env CUDA_VISIBLE_DEVICES=0 pytest\n", f" {ASCEND}=0"),
        ("Dockerfile", "RUN a && \\\n  CUDA_VISIBLE_DEVICES=0 b\n", f" {ASCEND}=0"),
    ],
)
def test_each_format_has_its_own_way(name: str, text: str, added: str) -> None:
    output = scan(name, text, configs=True).output.decode()
    assert output.count(added) == 1
    assert output.replace(added, "") == text
    assert scan(name, output, configs=True).output == output.encode()


def test_findings_say_what_would_be_written() -> None:
    text = "a: b\nenv:\n  CUDA_VISIBLE_DEVICES: 0\n"
    (finding,) = scan("a.yml", text).findings
    assert finding.level is Level.MANUAL
    assert finding.replacement == f"{CUDA}: 0\n  {ASCEND}: 0"
    (rewritten,) = scan("a.yml", text, configs=True).findings
    assert rewritten.replacement == finding.replacement
    (change,) = scan("a.yml", text, configs=True).changes
    assert text[change.start : change.end] == f"{CUDA}: 0"


def test_only_what_is_asked_for_is_written() -> None:
    text = b"export CUDA_VISIBLE_DEVICES=0\nexport CUDA_VISIBLE_DEVICES=1\n"
    result = rewrite_config(
        text, name="a.sh", options=Options(configs=True), only=lambda f: f.line == 2
    )
    assert result.output.splitlines()[0] == text.splitlines()[0]
    assert ASCEND.encode() in result.output.splitlines()[1]
    assert len(result.findings) == 1


IDS = st.sets(st.integers(0, 9), min_size=1, max_size=3).map(
    lambda ids: ",".join(map(str, sorted(ids)))
)
NAMES = st.sampled_from(["A", "B_C", "NCCL_DEBUG", CUDA, "device", "é"])
MAPPINGS = st.dictionaries(NAMES, st.one_of(IDS, st.sampled_from(["", "x y", "#", "cuda"])))
TREES = st.recursive(
    st.one_of(MAPPINGS, st.integers(0, 3), st.text("ab: #-'\"", max_size=4)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["env", "x", "y"]), inner, max_size=3),
    ),
    max_leaves=6,
)


def without(data: Any) -> Any:
    """Return data without what `--configs` adds, having checked that it is as its neighbour."""
    if isinstance(data, dict):
        if ASCEND in data:
            assert data[ASCEND] == data[CUDA]
        return {key: without(value) for key, value in data.items() if key != ASCEND}
    return [without(value) for value in data] if isinstance(data, list) else data


def check(name: str, text: str, parse: Any) -> None:
    result = scan(name, text, configs=True)
    assert not result.failed, result.findings
    output = result.output.decode()
    assert without(parse(output)) == parse(text)
    again = scan(name, output, configs=True)
    assert again.output == result.output
    plain = scan(name, text)
    assert plain.output == text.encode()
    written = [f for f in result.findings if f.level is Level.REWRITTEN]
    assert len(written) == output.count(ASCEND)
    assert len([f for f in plain.findings if f.replacement]) == len(written)


@given(TREES, st.sampled_from([None, True, False]), st.sampled_from([None, "'", '"']))
def test_yaml_keeps_its_data(data: Any, flow: bool | None, style: str | None) -> None:
    text = yaml.safe_dump(data, default_flow_style=flow, default_style=style, allow_unicode=True)
    check("a.yaml", text, lambda t: yaml.load(t, Loader=yaml.BaseLoader))


@given(TREES, st.sampled_from([None, 2]))
def test_json_keeps_its_data(data: Any, indent: int | None) -> None:
    check("a.json", json.dumps(data, indent=indent), json.loads)


@given(st.dictionaries(st.sampled_from(["env", "x", "y"]), MAPPINGS, max_size=3))
def test_toml_keeps_its_data(data: dict[str, dict[str, str]]) -> None:
    lines = []
    for name, table in data.items():
        lines.append(f"[{name}]")
        lines += [
            f"{json.dumps(k, ensure_ascii=False)} = {json.dumps(v)}" for k, v in table.items()
        ]
        inline = ", ".join(f'"{k}" = {json.dumps(v)}' for k, v in table.items())
        lines.append(f"inline = {{ {inline} }}  # {name}")
    check("a.toml", "\n".join(lines), tomllib.loads)


ADDED = guard.Added(f", {ASCEND}: 0", ASCEND, "0")
BEFORE = f"env: {{{CUDA}: 0, A: 1}}\n"
AFTER = f"env: {{{CUDA}: 0, {ASCEND}: 0, A: 1}}\n"


def test_the_guard_takes_what_was_added() -> None:
    guard.check(BEFORE, AFTER, kinds.YAML, [ADDED])


@pytest.mark.parametrize(
    "after",
    [
        AFTER.replace("A: 1", "A: 2"),
        AFTER.replace("A: 1", "B: 1"),
        AFTER.replace(f"{ASCEND}: 0", f"{ASCEND}: 1"),
        AFTER.replace(f"{CUDA}: 0", f"{CUDA}: 1"),
        AFTER + "x: 1\n",
        BEFORE,
        AFTER.replace("}", ""),
    ],
)
def test_the_guard_refuses_anything_else(after: str) -> None:
    with pytest.raises(guard.Broken):
        guard.check(BEFORE, after, kinds.YAML, [ADDED])


def test_a_refused_file_stays_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise guard.Broken("the new text has other values")

    monkeypatch.setattr("porter.configs.pipeline.check", refuse)
    result = scan("a.yml", BEFORE, configs=True)
    assert result.output == BEFORE.encode()
    assert result.failed
    assert "PTR805" in result.findings[0].message
