"""The version of CUDA that torch was built with."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Note, Outcome, rule
from porter_rules.leaving import cuda_only
from porter_rules.nodes import string_value
from porter_rules.telling import is_told


@rule(
    "PTR606",
    on=(cst.Attribute, cst.Call),
    needs=("version",),
    manual=[
        "import torch\nif torch.version.cuda is not None:\n    f()\n",
        "import torch\nif ready and torch.version.cuda:\n    f()\n",
        'import torch\nmajor = int(torch.version.cuda.split(".")[0])\n',
        "import torch\nok = torch.version.cuda >= '11'\n",
        "import torch\nversion = torch.version.cuda\n",
        'import torch\nversion = getattr(torch.version, "cuda", None)\n',
    ],
    notes=[
        "import torch\nprint(torch.version.cuda)\n",
        "import torch\nprint(f'cuda {torch.version.cuda}')\n",
        "import torch\ninfo = {'cuda': torch.version.cuda}\n",
    ],
    valid=[
        "self.version.cuda = 1\n",
    ],
)
def cuda_version(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> Outcome:
    """Leave `torch.version.cuda`, which asks for NVIDIA and not for an accelerator.

    It is None where torch was not built for CUDA. A test of it that selects CUDA's kernels is
    right as it is; one that means "there is an accelerator" should ask `accel.is_available()`,
    and one that wants a feature should test for the feature. Only a person can tell. Where the
    version is just printed or recorded there is nothing to do.
    """
    if not _is_version(original, ctx):
        return None
    if is_told(ctx.role(original)):
        return Note("torch.version.cuda is recorded here: it is None without CUDA")
    return cuda_only(
        "torch.version.cuda asks whether, and for which CUDA, torch was built, and is None "
        "elsewhere: keep it if NVIDIA is meant, else ask accel.is_available() or try the feature",
        ctx,
    )


def _is_version(node: cst.BaseExpression, ctx: Context) -> bool:
    """Whether this is `torch.version.cuda`, or `getattr(torch.version, "cuda", ...)`."""
    match node:
        case cst.Call(
            func=cst.Name("getattr"), args=[cst.Arg(value=module), cst.Arg(value=name), *_]
        ):
            return ctx.qualified(module) == "torch.version" and string_value(name) == "cuda"
    return ctx.qualified(node) == "torch.version.cuda"
