"""Conditions that ask for CUDA in order to ask for its version."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.nodes import children

_AVAILABILITY = frozenset({"torch.cuda.is_available", "torch.cuda.device_count"})
_VERSIONS = (
    *("torch.version.cuda", "torch.backends.cudnn.version"),
    "torch.utils.cpp_extension.CUDA_HOME",
)


@rule(
    "PTR611",
    on=(cst.BooleanOperation, cst.IfExp),
    needs=("version", "CUDA_HOME"),
    manual=[
        "import torch\nok = torch.cuda.is_available() and torch.version.cuda is not None\n",
        "import torch\n"
        'ok = torch.cuda.is_available() and int(torch.version.cuda.split(".")[0]) >= 11\n',
        "import torch\nif not torch.cuda.is_available() or torch.version.cuda is None:\n    pass\n",
        "import torch\nv = float(torch.version.cuda) if torch.cuda.is_available() else 0\n",
        "import torch\nok = torch.cuda.is_available() and torch.backends.cudnn.version() >= 8000\n",
        "import torch\nfrom torch.utils.cpp_extension import CUDA_HOME\n"
        "if torch.cuda.is_available() and CUDA_HOME is not None or forced:\n    pass\n",
        "import torch\nfrom torch.utils import cpp_extension\n"
        "ok = torch.cuda.is_available() and cpp_extension.CUDA_HOME\n",
    ],
    valid=[
        "import torch\nok = torch.cuda.is_available() and ready\n",
        "import torch\nv = torch.version.cuda if ready else None\n",
    ],
)
def cuda_version_condition(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> Outcome:
    """Leave a test for CUDA together with the version, or the compiler, that it asks for.

    `torch.cuda.is_available() and int(torch.version.cuda.split(".")[0]) >= 11` asks for NVIDIA.
    With only its first half ported, the second would be reached on an NPU, where the version is
    None, and raise. So the whole stays, and is False there. A test for CUDA_HOME asks for NVIDIA's
    compiler: what it protects is a build for CUDA, which stays, too.
    """
    condition = original.test if isinstance(original, cst.IfExp) else original
    if _AVAILABILITY.isdisjoint(_qualified_names(condition, ctx)):
        return None
    if not any(name.startswith(_VERSIONS) for name in _qualified_names(original, ctx)):
        return None
    return Manual(
        "torch.cuda.is_available() stands beside a question for CUDA's version or compiler, which "
        "are None elsewhere, so both stay: ask accel.is_available() and try the feature, if a "
        "feature is meant",
        groups=() if ctx.guard is None else (ctx.guard,),
    )


def _qualified_names(node: cst.CSTNode, ctx: Context) -> Iterator[str]:
    """Yield the dotted meanings of the attribute chains in an expression."""
    if isinstance(node, cst.Attribute | cst.Name):
        qualified = ctx.qualified(node)
        if qualified is not None:
            yield qualified
            return
    for child in children(node):
        yield from _qualified_names(child, ctx)
