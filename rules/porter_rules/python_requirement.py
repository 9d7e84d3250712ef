"""Requirements that need CUDA, where Python code lists them: setup.py and its like."""

from __future__ import annotations

import re

import libcst as cst

from porter.rule import Context, Manual, Note, Outcome, Role, rule
from porter_rules.nodes import string_value

_LISTS = re.compile(r"_?(?:\w+_)?(?:requires?|requirements?|dependenc(?:y|ies)(?:_links)?|extras)")
_GROWS = frozenset({"append", "extend", "insert"})


@rule(
    "PTR711",
    on=cst.SimpleString,
    needs=("flash", "xformers", "bitsandbytes", "cupy", "nvidia", "+cu", "/cu"),
    manual=[
        'setup(install_requires=["torch", "flash-attn>=2"])\n',
        'setup(extras_require={"gpu": ["bitsandbytes", "xformers==0.0.22"]})\n',
        'install_requires = ["torch==2.1.0+cu118"]\n',
        'extras_require = {"gpu": ["cupy-cuda12x"]}\n',
        'install_requires = []\ninstall_requires.append("xformers==0.0.28.post2")\n',
        'setup(install_requires=[])\ndependency_links = ["https://download.pytorch.org/whl/cu121"]\n',
    ],
    valid=[
        'setup(install_requires=["torch", "numba"], description="flash-attn")  # cuda\n',
        'NAMES = ["flash-attn", "xformers"]\n',
        'print("install xformers==0.0.22")\n',
        'if "xformers" in requirement:\n    pass\n',
    ],
)
def python_requirement(
    original: cst.SimpleString, updated: cst.SimpleString, ctx: Context
) -> Outcome:
    """Point out packages that need CUDA where Python code asks for them, as setup.py does.

    What `install_requires`, `extras_require` and lists of such names hold is judged as the lines
    of a requirements file are (PTR815, PTR816): one package that doesn't install without CUDA
    stops the whole installation. Keep it in an extra for CUDA alone; the message says what to use
    on Ascend. Nothing is rewritten: what belongs into which extra is for a person to say.
    """
    text = string_value(original)
    if text is None or not _is_listed(original, ctx.role(original), ctx):
        return None
    return _judged(text)


def _judged(text: str) -> Outcome:
    """Return what the rules about files of requirements say of one."""
    # Not before: most code asks for no package, and a hook's start-up counts.
    from porter.configs import rule as configs
    from porter.configs.read import packages
    from porter.configs.subjects import Index
    from porter_rules.configs.cuda_index import cuda_index
    from porter_rules.configs.cuda_requirement import cuda_requirement

    if "://" in text and "@" not in text and not text.startswith("git+"):
        answer = cuda_index(Index(0, len(text), text))
    else:
        asked = packages.requirement(text, 0)
        answer = cuda_requirement(asked) if asked is not None else None
    if isinstance(answer, configs.Note):
        return Note(answer.why)
    return Manual(answer.why) if isinstance(answer, configs.Manual) else None


def _is_listed(original: cst.SimpleString, role: Role, ctx: Context) -> bool:
    """Whether a string stands in a list of requirements, by the name of that list."""
    if role.kind == "argument" and role.callee.rpartition(".")[2] in _GROWS:
        call = next((n for n in reversed(ctx.stack) if isinstance(n, cst.Call)), None)
        match call:
            case cst.Call(func=cst.Attribute(value=cst.Name(value=name))):
                return _LISTS.fullmatch(name.lower()) is not None
        return False
    if role.kind != "element":
        return False
    outer: Role | None = role
    while outer is not None:
        if outer.kind in ("keyword", "assign") and _LISTS.fullmatch(outer.name.lower()):
            return True
        outer = outer.outer
    return False
