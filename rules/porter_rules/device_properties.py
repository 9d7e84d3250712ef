"""What is read from `torch.cuda.get_device_properties(...)`."""

from __future__ import annotations

import re

import libcst as cst

from porter.rule import Context, Outcome, rule
from porter_rules.leaving import NPU_HANDLED, cuda_only
from porter_rules.names import ON_CUDA_ALONE, mirrors
from porter_rules.nodes import last_identifier
from porter_rules.receivers import own_library

_EVERYWHERE = frozenset({"name", "total_memory"})
_SAY_IT_ALL = frozenset({"multi_processor_count", "warp_size"})
"""Names that nothing else has: they say by themselves what they are read from."""

_CALLED_PROPS = re.compile(r"(?:.*_)?(?:props?|propert(?:y|ies))", re.IGNORECASE)
_VERSION = frozenset({"major", "minor"})
_ONLY_CUDA = (
    "{} is a property of NVIDIA's (or AMD's) chips that other devices don't tell, and the shim "
    f"makes none up: give the figure that it decides about a value of its own there, or "
    f"{ON_CUDA_ALONE}"
)


@rule(
    "PTR212",
    on=cst.Attribute,
    needs=(),
    manual=[
        "import torch\nn = torch.cuda.get_device_properties(0).multi_processor_count",
        "major = torch.cuda.get_device_properties(torch.cuda.current_device()).major",
        "import torch.cuda\nn = self.info.multi_processor_count",
        "def f():  # CUDA\n    return f'sm_{self.props.major}{self.props.minor}'",
        "grid = (torch_device_properties().warp_size,)  # CUDA",
        "def is_big():\n    if not torch.cuda.is_available() or small:\n        return False\n"
        "    return torch.cuda.get_device_properties(torch.device('cuda')).warp_size > 8",
    ],
    valid=[
        "gb = torch.cuda.get_device_properties(0).total_memory / 2**30",
        "p = torch.cuda.get_device_properties(0)\nprint(p.name)",
        "gb = self.props.total_memory  # CUDA",
        "gpu = properties.get('gpu_id') if torch.cuda.is_available() else None",
        "n = constants.warp_size()  # CUDA",
        "version = release.major  # CUDA",
        "import sys\nif torch.cuda.is_available() and sys.version_info.major > 2:\n    pass",
    ],
)
def device_properties(original: cst.Attribute, updated: cst.Attribute, ctx: Context) -> Outcome:
    """Report properties of a device that only CUDA tells, such as multi_processor_count.

    `get_device_properties` is mirrored, and `name` and `total_memory` are there on every device.
    `major`, `minor`, `multi_processor_count`, `warp_size` and the others describe NVIDIA's chips:
    off CUDA they raise AttributeError, on purpose, since a made-up value picks the wrong kernel.

    Read straight from the call, the whole expression is left. Read from what holds the properties
    (a variable that is made by that call, something called `props`, and anything for the names
    that only these properties have), just the reading is reported.
    """
    attribute = original.attr.value
    if attribute in _EVERYWHERE or ctx.within("triton"):
        return None
    if isinstance(ctx.parent, cst.Call) and ctx.parent.func is original:
        return None  # a method
    if not _are_properties(original.value, attribute, ctx):
        return None
    if ctx.within("npu_aware"):
        return NPU_HANDLED
    return cuda_only(_ONLY_CUDA.format(attribute), ctx)


def _are_properties(node: cst.BaseExpression, attribute: str, ctx: Context) -> bool:
    match node:
        case cst.Call() as call if mirrors(ctx.callee(call), "get_device_properties"):
            return True
        case cst.Name(value=name) if name in ctx.instances:
            return mirrors(ctx.instances[name], "get_device_properties")
    if own_library(node, ctx):
        return False
    return attribute in _SAY_IT_ALL or (
        attribute in _VERSION and _CALLED_PROPS.fullmatch(last_identifier(node)) is not None
    )
