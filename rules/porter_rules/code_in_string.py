"""Code inside strings: doctests, programs and kernels."""

from __future__ import annotations

import ast
import re
import textwrap

import libcst as cst

from porter.rule import Context, Manual, Note, Outcome, rule
from porter_rules.device_names import last_name
from porter_rules.nodes import string_value
from porter_rules.telling import is_told

_DOCTEST = re.compile(r"^\s*>>> .*(?:\.cuda\(|torch\.cuda\b|[\"']cuda)", re.MULTILINE)
_KERNEL = re.compile(r"__global__\s+void|cudaMalloc|<<<.*>>>")
_RUNNERS = frozenset(
    {"exec", "eval", "compile", "timeit", "repeat", "Timer", "run", "call", "Popen"}
    | {"check_call", "check_output", "system", "popen", "create_subprocess_exec"}
)
"""Functions that run what a string holds."""

_EXAMPLE = Note(
    "an example in a docstring, which stays: as a doctest it runs on CUDA alone, so write "
    "accel.device_type there as well if it is run"
)
_PROGRAM = (
    "a string holds code that uses CUDA, which is not ported: run porter over that code in a file "
    "of its own, or write it by hand as the ported file would read"
)
_SOURCE = (
    "source text of a CUDA kernel, which only NVIDIA's compiler takes: give other devices a "
    "version in torch's operators"
)


@rule(
    "PTR214",
    on=(cst.SimpleString, cst.FormattedString),
    needs=(),
    manual=[
        'CODE = "import torch; print(torch.cuda.device_count())"',
        'SCRIPT = """\nimport torch\nprint(torch.cuda.device_count())\n"""',
        'subprocess.run([sys.executable, "-c", "import torch; torch.zeros(1).cuda()"])',
        'exec("x = x.cuda()")',
        'n = eval("torch.cuda.device_count()")',
        'CARD = f"""\nfrom lib import Net\nnet = Net("{name}").to("cuda")\n"""',
        'SOURCE = r"""\n__global__ void scale(float *x) { x[0] = 1; }\n"""  # CUDA',
    ],
    notes=[
        'def f(x):\n    """Scale.\n\n    >>> f(torch.ones(1).cuda())\n    """',
        '"""Module.\n\n>>> x = torch.ones(1, device="cuda")\n"""',
    ],
    valid=[
        'def f(x):\n    """Moves x with x.cuda(); see torch.cuda."""',
        '"""Doc.\n\nx = x.cuda() is the old way.\ntorch.cuda is not needed.\n"""',
        'print("torch.cuda.is_available()")',
        'logger.info("x = x.cuda(); y = y.cuda()")',
        'raise RuntimeError("call torch.cuda.init(); then retry")',
        'MESSAGE = """\nYour GPU is too old for\ntorch.cuda in this version.\n"""',
        'exec("x = 1")',
    ],
)
def code_in_string(original: cst.BaseString, updated: cst.BaseString, ctx: Context) -> Outcome:
    """Report code that uses CUDA inside a string: programs, templates, kernels, doctests.

    A program that is handed to `exec` or to another Python, a template of a script and the source
    of a kernel aren't ported, since what they are for is decided elsewhere. An example with `>>>`
    in a docstring is noted: it is documentation first.

    Other strings that mention torch.cuda, such as docstrings and messages, say nothing.
    """
    text = _text(original)
    if text is None or not ("cuda" in text or "__global__" in text):
        return None
    if _DOCTEST.search(text):
        return _EXAMPLE
    role = ctx.role(original)
    if role.kind == "statement" or is_told(role):
        return None
    if _KERNEL.search(text):
        return Manual(_SOURCE)
    return Manual(_PROGRAM) if _is_program(text, _is_run(original, ctx)) else None


def _text(node: cst.BaseString) -> str | None:
    """Return the string's text, with a name in the place of each field of an f-string."""
    if not isinstance(node, cst.FormattedString):
        return string_value(node)
    parts = (p.value if isinstance(p, cst.FormattedStringText) else "field" for p in node.parts)
    return "".join(parts)


def _is_run(node: cst.BaseString, ctx: Context) -> bool:
    """Whether a call around the string runs it: `exec(...)`, `[sys.executable, "-c", ...]`."""
    calls = [n for n in ctx.stack if isinstance(n, cst.Call)]
    return any(last_name(ctx.callee(call)) in _RUNNERS for call in calls)


def _is_program(text: str, is_run: bool) -> bool:
    """Whether the text parses as Python that uses CUDA; an expression has to be run as well."""
    try:
        tree = ast.parse(textwrap.dedent(text))
    except (SyntaxError, ValueError):
        return False
    single = len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr)
    if single and not is_run:
        return False
    return any(map(_uses_cuda, ast.walk(tree)))


def _uses_cuda(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(attr="cuda" | "is_cuda"):
            return True
        case ast.Constant(value=str() as value):
            return value == "cuda" or value.startswith("cuda:")
    return False
