"""Files that aren't what their names promise: reported, never a crash, never touched."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porter import kinds
from porter.configs import rewrite_config
from porter.configs.prefilter import may_have_sites
from porter.configs.rule import config_rules
from porter.model import UNREADABLE, Level, Options
from tests.configs.harness import scan

SAMPLES = [(sample.name, sample.text) for rule in config_rules() for sample in rule.samples]
NAMES = sorted({name for name, _ in SAMPLES} | {"Makefile", "setup.cfg", "a.json"})
PIECES = sorted({line for _, text in SAMPLES for line in text.splitlines(keepends=True)})


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.yaml", "a: 1\ndevice: [cuda\n", 3),
        ("a.yaml", "a: 1\nb: 'cuda\n", 3),
        ("a.yml", "device: cuda: 0\n", 1),
        ("a.json", '{"device": "cuda",\n "a" 1}', 2),
        ("a.toml", "device = cuda\n", 1),
    ],
)
def test_a_broken_file_is_reported_with_its_place(name: str, text: str, line: int) -> None:
    result = scan(name, text, configs=True)
    (finding,) = result.findings
    assert (finding.code, finding.level) == (UNREADABLE, Level.ERROR)
    assert finding.line in (line, line - 1)
    assert "mend the file, or leave it out" in finding.message
    assert result.output == text.encode()


def test_a_broken_file_without_a_word_of_cuda_is_not_even_read() -> None:
    assert scan("a.yaml", "a: [1\n").findings == ()


def test_bytes_that_are_no_text() -> None:
    (finding,) = rewrite_config(b"device: cuda\n\xff\n", name="a.yaml", options=Options()).findings
    assert finding.level is Level.ERROR
    assert "byte 13" in finding.message


TEXTS = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=5))).map("".join)


@settings(max_examples=150)
@given(st.sampled_from(NAMES), TEXTS, st.integers(0, 500))
def test_no_file_is_too_odd(name: str, text: str, length: int) -> None:
    data = text[:length].encode("utf-8", "surrogatepass")
    plain = rewrite_config(data, name=name, options=Options())
    assert plain.output == data
    written = rewrite_config(data, name=name, options=Options(configs=True))
    assert written.failed == plain.failed
    if not plain.failed:
        codes = [(f.code, f.line) for f in plain.findings]
        assert [(f.code, f.line) for f in written.findings] == codes
        again = rewrite_config(written.output, name=name, options=Options(configs=True))
        assert again.output == written.output


@pytest.mark.parametrize(("name", "text"), SAMPLES)
def test_the_first_look_lets_every_site_through(name: str, text: str) -> None:
    if scan(name, text).findings:
        assert may_have_sites(text.encode(), kinds.of(name))


@pytest.mark.parametrize("kind", [kinds.YAML, kinds.JSON, kinds.SHELL, kinds.DOCKERFILE])
def test_the_first_look_stops_what_has_none(kind: str) -> None:
    text = b"name: x\nmodel: bert-base\nbatch_size: 8\nlr: 1e-4\n" * 50
    assert not may_have_sites(text, kind)


@pytest.mark.parametrize(
    "text",
    [
        "run:",
        "run: ''",
        "run: |",
        "script:\n-",
        "command: []",
        "env:\n- ",
        "image:",
        "'",
        "dependencies: ['']",
    ],
)
def test_nothing_where_something_is_awaited(text: str) -> None:
    text += "  # cuda" if text != "'" else ""
    assert not [f for f in scan("a.yaml", text).findings if f.level is not Level.ERROR]
    assert not [f for f in scan("a.yaml", f"{text}\nx: [cuda]").findings if f.code != UNREADABLE]


@pytest.mark.parametrize("text", ["a: [cuda]\nrun:", "a: cuda\nscript: [b,", 'a: cuda\nrun: "'])
def test_a_text_may_end_anywhere(text: str) -> None:
    assert {f.code for f in scan("a.yaml", text).findings} <= {UNREADABLE}


def test_data_stops_at_the_first_look() -> None:
    assert not may_have_sites(b'{"tokens": ["triton", "mamba"]}', kinds.JSON)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.sh", "$(" * 50_000 + "cuda"),
        ("a.sh", "`" * 50_001 + "cuda"),
        ("a.sh", 'bash -c "' * 20_000 + "cuda"),
        ("a.sh", 'A="--x ' * 5_000 + "cuda"),
        ("a.sh", "export CUDA_VISIBLE_DEVICES=0 B=1\n" * 800),
        ("a.sh", "export CUDA_VISIBLE_DEVICES=0" + " B=1" * 8_000),
        ("a.sh", "<<A " * 20_000 + "cuda\n" + "x\n" * 20_000),
        ("a.yaml", "{{ " * 15_000 + "cuda"),
        ("a.yaml", "{% " * 15_000 + "cuda\n- ["),
        ("a.yaml", "&a " * 20_000 + "cuda"),
        ("a.yaml", "[" * 50_000 + "cuda"),
        ("a.yaml", "device: cuda\n" * 1_500),
        ("a.json", "[" * 50_000 + '"cuda"'),
        ("a.json", '{"device": "cuda", ' * 3_000),
        ("a.toml", "a = " + "[" * 50_000 + '"cuda"'),
        ("a.ini", "a" + " " * 100_000 + "cuda"),
        ("a.ini", "[a]\nb = cuda" + " " * 100_000 + "x"),
        ("requirements.txt", "a" + " " * 100_000 + "cuda"),
        ("requirements.txt", "https://x/" + "a/" * 50_000 + "cuda"),
        ("Dockerfile", "RUN a \\\n" + "\n" * 50_000 + "cuda"),
        ("Dockerfile", "RUN <<A\n" * 20_000 + "cuda"),
        ("Makefile", "a: \\\n" * 50_000 + "cuda"),
        ("a.yaml", "device: cuda # porter: ignore[PTR801] a\n" * 800),
    ],
)
def test_hostile_texts_take_no_longer_than_others(name: str, text: str) -> None:
    data = text.encode()
    plain = rewrite_config(data, name=name, options=Options())
    assert plain.output == data
    written = rewrite_config(data, name=name, options=Options(configs=True))
    assert written.failed == plain.failed
    assert len(written.findings) == len(plain.findings)
