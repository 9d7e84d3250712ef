"""What a locate-and-rewrite engine trips over, one kind a test."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Callable

import pytest

from porter.engine import rewrite_source
from porter.model import Level
from porter.rule import Rule

Port = Callable[[str], str]
ACCEL = "import porter_runtime as accel\n"


def port_bytes(before: bytes) -> bytes:
    """Port bytes that must not fail."""
    result = rewrite_source(before)
    assert not result.failed, result.findings
    return result.output


def manual(before: str) -> list[str]:
    """Return the messages of what is left to a person; nothing may have changed."""
    result = rewrite_source(before.encode())
    assert not result.failed
    assert result.output == before.encode()
    return [f.message for f in result.findings if f.level is Level.MANUAL]


def error(before: bytes) -> str:
    """Return the message of the error that leaves the bytes as they are."""
    result = rewrite_source(before)
    assert result.failed
    assert result.output == before
    return result.findings[0].message


class TestEncodings:
    def test_bom_is_kept(self) -> None:
        assert port_bytes(b"\xef\xbb\xbfimport torch\nx.cuda()\n") == (
            b"\xef\xbb\xbfimport torch\n" + ACCEL.encode() + b"x.to(accel.device_type)\n"
        )

    @pytest.mark.parametrize(
        ("encoding", "text"),
        [("gbk", "训练"), ("latin-1", "naïve"), ("cp1252", "dash \u2013"), ("shift_jis", "学習")],
    )
    def test_cookie_is_obeyed_and_offsets_count_right(self, encoding: str, text: str) -> None:
        before = (
            f"# -*- coding: {encoding} -*-\ns = '{text}'; y = f('{text}', x.cuda())  # {text}\n"
        )
        after = before.replace("x.cuda()", "x.to(accel.device_type)")
        got = port_bytes(before.encode(encoding)).decode(encoding)
        assert got.replace("import porter_runtime as accel\n", "") == after

    def test_bom_with_another_cookie_is_an_error(self) -> None:
        assert "cookie" in error(b"\xef\xbb\xbf# -*- coding: latin-1 -*-\nx.cuda()\n")

    def test_undeclared_encoding_is_an_error_that_says_where(self) -> None:
        message = error(b"x = 1\n# caf\xe9\nx.cuda()\n")
        assert "byte 11" in message
        assert "0xe9" in message

    def test_unknown_encoding_is_an_error(self) -> None:
        assert "cookie" in error(b"# coding: klingon\nx.cuda()\n")

    def test_non_ascii_before_and_inside_the_site(self) -> None:
        before = "# ж\ns = 'жж'; y = {'ж': x.cuda(), 'жж': (z  # жжж\n .cuda())}\n".encode()
        after = before.replace(b".cuda()", b".to(accel.device_type)")
        assert port_bytes(before) == b"# \xd0\xb6\n" + ACCEL.encode() + after[5:]

    def test_nul_byte_is_an_error(self) -> None:
        assert error(b"x.cuda()\n\x00")

    @pytest.mark.parametrize("empty", [b"", b"\n", b"\xef\xbb\xbf", b"# cuda\n", b"'cuda'\n"])
    def test_files_without_code_stay(self, empty: bytes) -> None:
        assert port_bytes(empty) == empty


class TestLines:
    @pytest.mark.parametrize("odd", ["\x0c", "\x0b", "\u2028", "\x85", "\x1c"])
    def test_only_pythons_own_line_ends_count(self, odd: str) -> None:
        before = f"s = '''a{odd}b'''\ny = x.cuda()\n"
        after = f"{ACCEL}s = '''a{odd}b'''\ny = x.to(accel.device_type)\n"
        assert port_bytes(before.encode()).decode() == after

    def test_form_feed_between_definitions(self) -> None:
        before = b"import torch\n\x0cdef f(x):\n    return x.cuda()\n"
        assert b"\n\x0cdef f(x):\n    return x.to(accel.device_type)\n" in port_bytes(before)

    @pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
    def test_line_ends_inside_a_site(self, newline: str) -> None:
        lines = ["import torch", "y = (x  # a", "  .cuda(", "  )  # b", ")", ""]
        before = newline.join(lines)
        after = newline.join(
            ["import torch", ACCEL.strip(), *lines[1:2], "  .to(accel.device_type)  # b", ")", ""]
        )
        got = port_bytes(before.encode()).decode()
        assert got.count(newline) in (before.count(newline), before.count(newline) + 1)
        assert set(got.replace(newline, "")) & {"\r", "\n"} == set()
        assert ast.dump(ast.parse(got)) == ast.dump(ast.parse(after))

    def test_mixed_line_ends_stay_mixed(self) -> None:
        before = b"import torch\r\na = 1\nb = x.cuda()\r\nc = 2\r"
        after = b"import torch\r\nimport porter_runtime as accel\r\na = 1\n"
        assert port_bytes(before) == after + b"b = x.to(accel.device_type)\r\nc = 2\r"

    def test_no_newline_at_the_end(self) -> None:
        assert port_bytes(b"import torch\nx.cuda()").endswith(b"\nx.to(accel.device_type)")

    def test_continuation_lines(self, port: Port) -> None:
        assert port("y = x \\\n    .cuda() \\\n    .half()\n") == (
            f"{ACCEL}y = x \\\n    .to(accel.device_type) \\\n    .half()\n"
        )


class TestFragments:
    @pytest.mark.parametrize(
        "template",
        [
            "{}\n",
            "y = {}, 1\n",
            "y = *{}, 1\n",
            "y = ({})\n",
            "y = (a, {})\n",
            "y = [{} for i in z if {}]\n",
            "f({} for i in z)\n",
            "f(*{}, **{})\n",
            "f(a={})\n",
            "y = lambda: {}\n",
            "if (y := {}):\n    pass\n",
            "y = f'{{{}}}'\n",
            "y = f'a{{{}!r:>{{w}}}}'\n",
            "y = z[{}:{}, ::{}]\n",
            "z[{}] = 1\n",
            "z[{}:] = 1\n",
            "{}.a = 1\n",
            "for i in {}, 1:\n    pass\n",
            "while not {}:\n    pass\n",
            "assert {}, {}\n",
            "raise {} from {}\n",
            "with {} as a, {} as b:\n    pass\n",
            "del z[{}]\n",
            "@f({})\ndef g(): ...\n",
            "def g(a={}, *, b={}): ...\n",
            "def g(a: {}) -> {}: ...\n",
            "class C(A, metaclass={}):\n    b = {}\n",
            "match {}:\n    case a if {}:\n        pass\n",
            "try:\n    {}\nexcept f({}):\n    {}\nelse:\n    {}\nfinally:\n    {}\n",
            "if a: {}; b = {}\nelif {}: pass\nelse: {}\n",
            "def g():\n    return {}\n",
            "def g():\n    yield {}\n",
            "async def g():\n    await {}\n    async for i in {}:\n        yield {}\n",
            "global_ = z = {}\n",
            "z += {}\n",
            "z: int = {}\n",
            "y = {{**{}, 'a': {}, {}: 1}}\n",
            "y = a if {} else {}\n",
            "y = not {} and -{} ** 2 or {} < {} is not None\n",
        ],
    )
    def test_every_place_for_an_expression(self, template: str, port: Port) -> None:
        count = template.count("{}")
        before = template.format(*["x.cuda()"] * count)
        after = template.format(*["x.to(accel.device_type)"] * count)
        assert port(before).replace(ACCEL, "") == after

    @pytest.mark.skipif(sys.version_info < (3, 11), reason="except* came with Python 3.11")
    def test_exception_groups(self, port: Port) -> None:
        before = "try:\n    a\nexcept* f(x.cuda()):\n    y.cuda()\n"
        assert "except* f(x.to(accel.device_type)):\n    y.to(" in port(before)

    def test_match_patterns_are_left(self) -> None:
        text = "import torch\nmatch x:\n    case torch.cuda.Stream:\n        pass\n"
        assert any("pattern" in m for m in manual(text))

    def test_assignment_to_a_name_of_torch_cuda_is_left(self) -> None:
        text = "import torch\ntorch.cuda.is_available = lambda: False\n"
        assert any("replaces it for every user" in m for m in manual(text))

    def test_scripted_functions_are_left(self) -> None:
        text = "import torch\n@torch.jit.script\ndef f(x):\n    return x.cuda()\n"
        assert any("TorchScript" in m for m in manual(text))

    def test_functions_that_are_scripted_by_a_call_are_left(self) -> None:
        text = "import torch\ndef f(x):\n    return x.cuda()\ng = torch.jit.script(f)\n"
        assert any("TorchScript" in m for m in manual(text))

    def test_large_expressions_are_narrowed(self, port: Port) -> None:
        items = "".join(f"    'k{n}': [{n}, {n}],\n" for n in range(400))
        before = f"d = {{\n{items}    'x': x.cuda(),\n}}\n"
        assert port(before) == ACCEL + before.replace(".cuda()", ".to(accel.device_type)")

    def test_a_large_receiver_keeps_its_site(self, port: Port) -> None:
        layers = ", ".join(f"nn.Linear({n}, {n})" for n in range(200))
        before = f"net = nn.Sequential({layers}).cuda()\n"
        assert port(before) == ACCEL + before.replace(".cuda()", ".to(accel.device_type)")

    def test_four_hundred_terms(self, port: Port) -> None:
        before = "y = " + " + ".join(f"x{n}.cuda()" for n in range(400)) + "\n"
        assert port(before) == ACCEL + before.replace(".cuda()", ".to(accel.device_type)")

    def test_two_hundred_chained_calls(self, port: Port) -> None:
        before = "y = x.cuda()" + ".half()" * 200 + "\n"
        assert port(before) == ACCEL + before.replace(".cuda()", ".to(accel.device_type)")

    def test_two_thousand_chained_calls_are_left(self) -> None:
        assert any("too deeply" in m for m in manual("y = x.cuda()" + ".half()" * 2_000 + "\n"))

    def test_nesting_beyond_the_parser_is_an_error(self) -> None:
        assert "cannot be parsed" in error(b"x = " + b"(" * 5_000 + b"x.cuda()" + b")" * 5_000)

    def test_names_are_ambiguous_only_where_they_are_used(self, port: Port) -> None:
        before = "import torch\ny = [torch.a for torch in z]\nw = x.cuda()\n"
        assert "w = x.to(accel.device_type)" in port(before)


class TestText:
    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("y = 1 if a else(x).cuda()\n", "y = 1 if a else(x).to(accel.device_type)\n"),
            ("y = (x).cuda()if a else 1\n", "y = (x).to(accel.device_type)if a else 1\n"),
            ("y = [(x.cuda())for x in z]\n", "y = [(x.to(accel.device_type))for x in z]\n"),
            ("y = (  x.cuda()  )\n", "y = (  x.to(accel.device_type)  )\n"),
            ("y = ((x).cuda())\n", "y = ((x).to(accel.device_type))\n"),
            ("y = (x.cuda)()\n", None),
            ("y = x . cuda ( )\n", None),
            ("y = x.cuda(  # a\n)\n", None),
        ],
    )
    def test_odd_spacing(self, before: str, after: str | None, port: Port) -> None:
        got = port(before).replace(ACCEL, "")
        if after is not None:
            assert got == after
        assert ("# a" in before) == ("# a" in got)

    def test_comments_inside_a_chain_survive(self, port: Port) -> None:
        before = (
            "loss = (crit(a, b)  # keep me\n"
            "        .cuda()  # and me\n"
            "        # and this\n"
            "        .mean())\n"
        )
        assert port(before) == ACCEL + before.replace(".cuda()", ".to(accel.device_type)")

    def test_a_comment_in_parentheses_does_not_stand_for_one_that_would_be_lost(self) -> None:
        text = 'x, (  # why\n    torch.device("cuda:" + str(  # why\n        rank)))\n'
        assert any("lose a comment" in m for m in manual(text))

    def test_comments_and_strings_are_no_sites(self) -> None:
        text = (
            '"""Replaces torch.cuda.set_rng_state; call x.cuda() first."""\n'
            "# torch.cuda.synchronize() was here\n"
            'MSG = "install cuda>=12 or run with nccl"\n'
            'url = "https://example.org/cuda:0/torch.cuda"\n'
            "cuda_lr = 0.1\n"
            "args.cuda = args.use_cuda\n"
        )
        result = rewrite_source(text.encode())
        assert result.output == text.encode()
        assert result.findings == ()

    def test_warnings_of_the_users_code_stay_silent(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            port_bytes(b"s = '\\d'\nif x is 1: x.cuda()\n")

    def test_identifiers_that_python_normalises_are_reported(self) -> None:
        text = "import torch\ntorch.\uff43\uff55\uff44\uff41.synchronize(cuda=1)\n"
        assert manual(text)

    def test_what_prints_its_own_text_is_left(self) -> None:
        text = "import torch\nprint(f'{torch.cuda.device_count()=}')\n"
        assert manual(text)

    @pytest.mark.parametrize(
        ("text", "hint"),
        [
            (b"x = x.cuda(async=True)\n", "non_blocking"),
            (b"print 'cuda'\n", "Python 2"),
            (b"x = = 'cuda'\n", "newer Python"),
        ],
    )
    def test_unparsable_files_are_errors_with_a_hint(self, text: bytes, hint: str) -> None:
        assert hint in error(text)

    def test_a_new_syntax_names_the_python_that_could_not_parse_it(self) -> None:
        message = error(b"x.cuda()\nlazy import y ? z\n")
        assert f"Python {sys.version_info[0]}.{sys.version_info[1]}" in message


@pytest.mark.parametrize("text", ["y = await(x.cuda() if a else b)\n", "await(lambda: x.cuda())\n"])
def test_what_libcst_cannot_read_is_reported(text: str) -> None:
    (message,) = manual(text)
    assert "libcst cannot parse" in message


def test_a_qualified_name_does_not_go_through_a_call(port: Port) -> None:
    before = "import torch\ny = torch.nn.DataParallel(m).cuda()\n"
    assert "DataParallel(m).to(accel.device_type)" in port(before)


def test_a_file_of_300_kb(port: Port) -> None:
    block = "def f{n}(x):\n    '''Doc.'''\n    y = [1, 2, 3, {n}]\n    return x\n\n\n"
    body = "".join(block.replace("{n}", str(n)) for n in range(4_500))
    before = f"import torch\n{body}def g(x):\n    return x.cuda()\n"
    assert len(before) > 300_000
    after = before.replace("import torch\n", f"import torch\n{ACCEL}")
    assert port(before) == after.replace("x.cuda()", "x.to(accel.device_type)")


def test_a_faulty_rule_is_named_and_the_file_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    from porter.engine import passes

    def fail(rule: Rule, *_: object) -> None:
        raise passes.RuleError(rule.code, KeyError("x"))

    monkeypatch.setattr(passes, "_ask", fail)
    message = error(b"unheard_of_name.cuda()\n")
    assert "PTR" in message
    assert "KeyError" in message


def test_a_name_with_two_sources_that_are_both_ported_is_not_reported() -> None:
    text = (
        "if NEW:\n    from torch.cuda.amp import autocast\nelse:\n"
        "    def autocast(enabled=True): ...\nwith autocast():\n    pass\n"
    )
    result = rewrite_source(text.encode())
    assert result.output.decode() == text.replace("torch.cuda.amp", "porter_runtime")
    assert [f.level for f in result.findings] == [Level.REWRITTEN]


def test_an_import_over_several_lines_is_seen_once() -> None:
    text = "from torch.cuda.random import (\n    get_rng_state,\n    set_rng_state,  # all\n)\n"
    assert port_bytes(text.encode()).decode() == text.replace("torch.cuda.random", "porter_runtime")


def test_every_line_that_an_import_of_many_lines_changes_is_in_a_finding() -> None:
    for text in (
        "from torch.cuda.random import (\n    get_rng_state,\n    set_rng_state,  # all\n)\n",
        "from torch.cuda import (\n    synchronize,\n    nonsense,\n)\n",
    ):
        result = rewrite_source(text.encode())
        said = {n for f in result.findings for n in range(f.first_line, f.end_line + 1)}
        kept = result.output.decode().splitlines()
        changed = {n for n, line in enumerate(text.splitlines(), 1) if line not in kept}
        assert 1 in changed
        assert changed <= said


@pytest.mark.parametrize("between", [" . ", "\f.", ".\t", "\\\n.", ". \\\r\n "])
def test_an_import_spelt_with_blanks_beside_its_dots_is_ported(between: str) -> None:
    result = rewrite_source(f"from torch{between}cuda import Stream, synchronize\n".encode())
    assert result.output == b"from porter_runtime import Stream, synchronize\n"


@pytest.mark.parametrize("target", ["x.is_cuda", "torch.cuda.a", "(a, x.is_cuda)", "[*x.is_cuda]"])
def test_what_a_comprehension_assigns_to_is_left(target: str) -> None:
    before = f"import torch\ny = [a.cuda() for {target} in b.cuda()]\n"
    after = f"import torch\n{ACCEL}y = [a.to(accel.device_type) for {target} in b.cuda()]\n"
    after = after.replace("b.cuda()", "b.to(accel.device_type)")
    assert port_bytes(before.encode()) == after.encode()


def test_the_import_of_the_shim_may_end_a_match() -> None:
    before = b"match d:\n    case 1:\n        import torch.cuda\n        torch.cuda.init()\n"
    result = rewrite_source(before)
    assert not result.failed
    assert b"import torch.cuda\n        import porter_runtime as accel\n" in result.output
    last = b"match d:\n    case 1:\n        x.cuda()\n        import torch.cuda\n"
    assert not rewrite_source(last).failed
