"""Values and their places: as the libraries read them, and where they stand in the text."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from porter import kinds
from porter.configs import document
from porter.configs.read.leaf import Unreadable

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=8)
WORDS = st.one_of(TEXT, st.sampled_from(["cuda", "cuda:0", "a: b", "# x", "- y", "'", '"', "\\"]))
PLAIN = st.one_of(WORDS, st.booleans(), st.integers(-9, 9), st.none())
DATA = st.recursive(
    PLAIN,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=8,
)


def flat(data: Any, keys: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the single values of data, with the keys that lead to them."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from flat(value, (*keys, key))
    elif isinstance(data, list):
        for value in data:
            yield from flat(value, keys)
    else:
        yield keys, data


def read(text: str, kind: str) -> list[tuple[tuple[str, ...], str]]:
    return [(leaf.keys, leaf.value) for leaf in document.leaves(text, kind)]


@given(DATA, st.sampled_from([None, "'", '"']), st.sampled_from([None, True, False]))
def test_yaml_is_read_as_pyyaml_reads_it(data: Any, style: str | None, flow: bool | None) -> None:
    text = yaml.safe_dump(data, default_style=style, default_flow_style=flow, allow_unicode=True)
    expected = list(flat(yaml.load(text, Loader=yaml.BaseLoader)))
    assert read(text, kinds.YAML) == expected
    for leaf in document.leaves(text, kinds.YAML):
        again = yaml.load(text[leaf.start : leaf.end], Loader=yaml.BaseLoader)
        if "\n" not in text[leaf.start : leaf.end] and isinstance(again, str):
            assert again == leaf.value, "the place holds the value and nothing else"


@given(DATA, st.sampled_from([None, 0, 4]), st.booleans())
def test_json_is_read_as_the_standard_library_reads_it(
    data: Any, indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(data, indent=indent, ensure_ascii=ascii_only)
    leaves = document.leaves(text, kinds.JSON)
    assert [(leaf.keys, leaf.value) for leaf in leaves] == [
        (keys, value if isinstance(value, str) else json.dumps(value)) for keys, value in flat(data)
    ]
    for leaf in leaves:
        value = json.loads(text[leaf.start : leaf.end])
        assert leaf.value == (value if isinstance(value, str) else text[leaf.start : leaf.end])


KEYS = st.text('abc_-1 ."é', min_size=1, max_size=4)
TOML_DATA = st.recursive(
    st.one_of(TEXT, st.booleans(), st.integers(-9, 9)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=6,
)


def toml(value: Any) -> str:
    """Return a value as TOML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(k)} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


@given(st.dictionaries(KEYS, st.dictionaries(KEYS, TOML_DATA, max_size=3), max_size=3))
def test_toml_is_read_as_the_standard_library_reads_it(data: dict[str, dict[str, Any]]) -> None:
    lines = []
    for name, table in data.items():
        lines.append(f"[{toml(name)}]  # a table")
        lines += [f"{toml(key)} = {toml(value)}" for key, value in table.items()]
    text = "\n".join(lines)
    assert tomllib.loads(text) == data
    assert read(text, kinds.TOML) == [
        (keys, value if isinstance(value, str) else toml(value)) for keys, value in flat(data)
    ]


def leaf_texts(text: str, kind: str) -> list[str]:
    return [text[leaf.start : leaf.end] for leaf in document.leaves(text, kind)]


def test_yaml_places_leave_anchors_tags_and_comments_out() -> None:
    text = "a: &x 'cuda' # c\nb: !!str cuda\nc: *x\nd: &y\ne: {f: [1, \"2\"]}\n---\ng: h\n"
    assert leaf_texts(text, kinds.YAML) == ["'cuda'", "cuda", "", "1", '"2"', "h"]
    assert [leaf.keys for leaf in document.leaves(text, kinds.YAML)][3] == ("e", "f")


def test_keys_may_occur_twice_or_be_no_text() -> None:
    text = "a: 1\na: 2\n? [x, y]\n: z\n? {p: q}\n: - r\n"
    values = [leaf.value for leaf in document.leaves(text, kinds.YAML)]
    assert values == ["1", "2", "x", "y", "z", "q", "r"]


def test_toml_of_many_lines_dates_and_dotted_keys() -> None:
    text = (
        'a.b."c d" = 1\r\nwhen = 1979-05-27 07:32:00\r\nlist = [\r\n  "x", # y\r\n  \'z\',\r\n]\r\n'
        'long = """one\r\ntwo \\" "" """\r\n[[t]]\r\nraw = \'\'\'a\'b\'\'\'\r\n'
    )
    leaves = {leaf.keys: leaf.value for leaf in document.leaves(text, kinds.TOML)}
    assert leaves["a", "b", "c d"] == "1"
    assert leaves["when",] == "1979-05-27 07:32:00"
    assert leaves["list",] == "z"
    assert leaves["long",] == 'one\ntwo " "" '
    assert leaves["t", "raw"] == "a'b"


def test_json_with_comments_and_trailing_commas() -> None:
    text = '{ // "a": 1\n "b": [1, /* 2, */ true,], "u": "http://x",\n}'
    assert read(text, kinds.JSON) == [(("b",), "1"), (("b",), "true"), (("u",), "http://x")]


def test_several_json_texts_in_one_file_are_data() -> None:
    assert document.leaves('{"device": "cuda"}\n{"device": "cuda"}\n', kinds.JSON) == []


def test_ini_values_of_many_lines() -> None:
    text = "[a]\nx = 1  # one\nlist =\n    b\n    # no\n    c\n[d]\ny: 2\n"
    assert read(text, kinds.INI) == [
        (("a", "x"), "1"),
        (("a", "list"), "b"),
        (("a", "list"), "c"),
        (("d", "y"), "2"),
    ]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (kinds.YAML, "a: [1\nb: 2\n"),
        (kinds.YAML, "a: 'x\n"),
        (kinds.YAML, "a: b: c\n"),
        (kinds.YAML, "\tx: 1\n"),
        (kinds.YAML, "[" * 3000),
        (kinds.JSON, '{"a": }'),
        (kinds.JSON, '{"a" 1}'),
        (kinds.JSON, '{"a": 1 "b": 2}'),
        (kinds.JSON, "[" * 100_000),
        (kinds.TOML, "a = \n"),
        (kinds.TOML, "a = 1\na = 2\n"),
    ],
)
def test_what_cannot_be_read_says_so(kind: str, text: str) -> None:
    with pytest.raises(Unreadable, match=rf"^not {kind.upper()}") as caught:
        document.leaves(text, kind)
    assert 0 <= caught.value.offset <= len(text)


def test_the_place_of_a_fault_is_told() -> None:
    with pytest.raises(Unreadable) as caught:
        document.leaves("a: 1\nb = [\n", kinds.TOML)
    assert caught.value.offset in (1, 2)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("{% if x %}\na: {{ a }}\n{% endif %}\nb: nccl\n", ["__ _ __", "nccl"]),
        ("{{- if .Values.gpu }}\nb: nccl\n{{- end }}\n", ["nccl"]),
        ("{% for x in y %}\n- {{ x\n  }}\n{% endfor %}\n", ["__ _ __"]),
    ],
)
def test_templates_are_no_fault(text: str, values: list[str]) -> None:
    assert [leaf.value for leaf in document.leaves(text, kinds.YAML)] == values


def test_a_template_that_is_no_yaml_has_no_values() -> None:
    assert document.leaves("{{ a }} b: [\n{% x %}\n", kinds.YAML) == []
