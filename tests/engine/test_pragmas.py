"""Pragmas keep sites as they are, in rewrite and in check alike."""

from __future__ import annotations

import textwrap

import pytest

from porter.engine import rewrite_source
from porter.model import Level, Options, Rewrite


def port(text: str, select: tuple[str, ...] = (), ignore: tuple[str, ...] = ()) -> Rewrite:
    data = textwrap.dedent(text).lstrip("\n").encode()
    result = rewrite_source(data, options=Options(select, ignore))
    assert not result.failed, result.findings
    return result


def kept(text: str) -> list[tuple[int, str]]:
    return [(s.finding.line, s.finding.code) for s in port(text).suppressed]


def idle(result: Rewrite) -> list[tuple[int, str]]:
    return [(f.line, f.message) for f in result.findings if f.code == "PTR002"]


def test_the_reason_is_handed_on() -> None:
    result = port("x = y.cuda()  # porter: ignore[PTR101] the teacher stays\n")
    assert result.findings == ()
    assert result.suppressed[0].reason == "the teacher stays"
    assert result.suppressed[0].finding.replacement == "y.to(accel.device_type)"
    assert b"y.cuda()" in result.output
    assert b"porter_runtime" not in result.output


@pytest.mark.parametrize(
    "pragma",
    [
        "# porter: ignore[PTR101]",
        "#porter:ignore[PTR101]",
        "#   porter:   ignore [ ptr101 , PTR203 ]   why",
        "# noqa: E501  # porter: ignore[PTR101]",
        "# porter: ignore[PTR101] why  # noqa: E501",
        "# porter: ignore[PTR1]",
    ],
)
def test_spellings(pragma: str) -> None:
    assert kept(f"x = y.cuda()  {pragma}\n") == [(1, "PTR101")]


@pytest.mark.parametrize(
    "text",
    [
        "# porter ignore[PTR101]",
        "# porter: ignores nothing",
        "# see porter: it would ignore[PTR101]",
        "# porter: ignore[PTR302]",
    ],
)
def test_what_is_no_pragma_for_this(text: str) -> None:
    assert kept(f"x = y.cuda()  {text}\n") == []


def test_text_in_strings_is_no_pragma() -> None:
    result = port('s = "# porter: skip-file"; x = y.cuda(); t = "# porter: ignore[PTR101]"\n')
    assert b"y.to(accel.device_type)" in result.output


def test_a_comment_alone_speaks_for_the_next_line_of_code() -> None:
    text = """
    # porter: ignore[PTR101] why
    # and another comment

    x = y.cuda()
    z = y.cuda()
    """
    assert kept(text) == [(4, "PTR101")]


def test_only_the_line_counts_not_the_whole_statement() -> None:
    text = """
    z = f(
        a.cuda(),  # porter: ignore[PTR101]
        b.cuda(),
        # porter: ignore[PTR101]
        c.cuda(),
        d.cuda(),
    )
    """
    result = port(text)
    assert [s.finding.line for s in result.suppressed] == [2, 5]
    assert result.output.count(b".to(accel.device_type)") == 2


def test_behind_closing_brackets_it_speaks_for_what_is_inside() -> None:
    text = """
    z = f(
        a.cuda(),
        g([
            b.cuda(),
        ]),  # porter: ignore[PTR101]
    )
    w = f(
        c.cuda()
    )  # porter: ignore[PTR101]
    """
    assert kept(text) == [(4, "PTR101"), (8, "PTR101")]


@pytest.mark.parametrize(
    "text",
    [
        'x = "a \\\n b".join(y.cuda())  # porter: ignore[PTR101]\n',
        "x = 1 + \\\n    y.cuda() + \\\n    1  # porter: ignore[PTR101]\n",
        '# porter: ignore[PTR101]\nx = """\na\n""" + y.cuda()\n',
        'x = f"""{y.cuda()}\n"""  # porter: ignore[PTR101]\n',
    ],
)
def test_lines_that_can_hold_no_comment_are_part_of_those_that_can(text: str) -> None:
    assert [code for _, code in kept(text)] == ["PTR101"]


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_ends(ending: str) -> None:
    text = "import torch\na = b\nx = y.cuda()  # porter: ignore[PTR101]\nz = y.cuda()\n"
    result = rewrite_source(text.replace("\n", ending).encode())
    assert [s.finding.line for s in result.suppressed] == [3]
    assert result.output.count(b".to(accel.device_type)") == 1


def test_what_a_kept_site_consists_of_is_kept_with_it() -> None:
    text = 'import torch\nd = torch.device("cuda" if torch.cuda.is_available() else "cpu")'
    result = port(f"{text}  # porter: ignore[PTR304] why\n")
    assert result.findings == ()  # neither the name nor the string, which would be found alone
    assert result.output.startswith(text.encode())


def test_a_site_of_its_own_inside_a_kept_one_is_ported() -> None:
    text = """
    import torch
    m = torch.nn.parallel.DistributedDataParallel(  # porter: ignore[PTR503]
        net.cuda(), device_ids=[rank]
    )
    """
    result = port(text)
    assert [f.code for f in result.findings] == ["PTR101"]
    assert b"net.to(accel.device_type), device_ids=[rank]" in result.output


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            'import torch.distributed as dist\nbackend = "nccl"{}\n'
            'if backend == "nccl":\n    dist.init_process_group(backend)\n',
            [3],
        ),
        (
            'import torch\ndevice = "cpu"\nif torch.cuda.is_available():{}\n    device = "cuda"\n',
            [4],
        ),
    ],
)
def test_what_belongs_together_with_a_kept_site_is_left(text: str, left: list[int]) -> None:
    free = port(text.format(""))
    assert {f.level for f in free.findings} == {Level.REWRITTEN}
    result = port(text.format("  # porter: ignore[PTR] why"))
    assert [(f.line, f.level) for f in result.findings] == [(n, Level.MANUAL) for n in left]
    assert result.output == text.format("  # porter: ignore[PTR] why").encode()


def test_imports_are_kept_name_by_name() -> None:
    head = "from torch.cuda.amp import autocast"
    assert kept(f"{head}  # porter: ignore[PTR203]\n") == [(1, "PTR203")]
    text = f"""
    {head.removesuffix("autocast")}(
        autocast,  # porter: ignore[PTR203]
        GradScaler,
    )
    """
    result = port(text)
    assert [s.finding.line for s in result.suppressed] == [2]
    assert [(f.line, f.level) for f in result.findings] == [(3, Level.MANUAL)]
    assert b"porter_runtime" not in result.output


def test_a_manual_site_is_kept_too() -> None:
    result = port("import torch\nh = torch.cuda.cudart()  # porter: ignore[PTR202] NVIDIA only\n")
    assert result.findings == ()
    assert [s.finding.level for s in result.suppressed] == [Level.MANUAL]


def test_skip_file() -> None:
    text = "x = y.cuda()\n# porter: skip-file benchmarks of CUDA itself\n"
    result = port(text)
    assert result.output == text.encode()
    assert result.findings == ()


def test_skip_file_counts_in_a_file_that_cannot_be_parsed() -> None:
    data = b"# porter: skip-file Python 2\nprint x.cuda()\n"
    assert rewrite_source(data).findings == ()


def test_idle_pragmas_are_reported() -> None:
    result = port(
        """
        x = 1  # porter: ignore[PTR101] nothing here
        x = y.cuda()  # porter: ignore[PTR101, PTR302] one of two
        x = y.cuda()  # porter: ignore
        x = y.cuda()  # porter: ignore[] why
        x = y.cuda()  # porter: ignore[PTR999]
        """
    )
    messages = idle(result)
    assert [line for line, _ in messages] == [1, 2, 3, 4, 5]
    assert "PTR101" in messages[0][1]
    assert "PTR302" in messages[1][1]
    assert "ignore[PTR101] why" in messages[2][1]
    assert "PTR999" in messages[4][1]
    assert result.output.count(b".to(accel.device_type)") == 3


def test_an_idle_pragma_in_a_file_without_any_site() -> None:
    assert [line for line, _ in idle(port("a = 1\nb = 2  # porter: ignore[PTR101]\n"))] == [2]


def test_pragmas_for_rules_that_were_not_asked_are_not_idle() -> None:
    text = "x = y.cuda()  # porter: ignore[PTR101]\n"
    assert port(text, ignore=("PTR101",)).findings == ()
    assert port(text, select=("PTR2", "PTR002")).findings == ()
    assert idle(port("a = 1  # porter: ignore[PTR1]\n", ignore=("PTR002",))) == []


def test_a_column_points_at_the_pragma() -> None:
    (finding,) = port("x = 1  # noqa # porter: ignore[PTR101] why\n").findings
    assert (finding.line, finding.column) == (1, 15)
    assert finding.source == "x = 1  # noqa # porter: ignore[PTR101] why"


def test_only_some_findings_are_asked_for() -> None:
    data = b"import torch\nx = y.cuda()\nz = y.cuda()\n"
    result = rewrite_source(data, only=lambda finding: finding.line == 3)
    assert result.output.splitlines()[2:] == [b"x = y.cuda()", b"z = y.to(accel.device_type)"]
    assert [f.line for f in result.findings] == [3]
    assert result.suppressed == ()


def test_rules_that_are_not_asked_still_hold_others_back() -> None:
    test = "torch.cuda.is_available() and torch.cuda.get_device_capability()[0] > 7"
    text = f"import torch\nok = {test}\n"
    assert port(text, select=("PTR201",)).output == text.encode()
    assert port(text, select=("PTR201",)).findings == ()


def test_an_annotation_in_quotes_that_is_kept_asks_for_no_import() -> None:
    data = (
        b"import torch\n"
        b"def f() -> Optional['torch.cuda.Event']: ...  # porter: ignore[PTR207] meant for CUDA\n"
    )
    assert rewrite_source(data).output == data
