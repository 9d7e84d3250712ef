"""`"cuda" if torch.cuda.is_available() else "cpu"`."""

from __future__ import annotations

import re

import libcst as cst

from porter.rule import Context, Manual, Note, Outcome, Role, rule
from porter_rules.availability_choice import choice, device_of_choice, has_index, use_of_chosen
from porter_rules.device_arguments import Use
from porter_rules.device_constructor import is_constructor
from porter_rules.device_roles import ported
from porter_rules.device_strings import DeviceString, device_string
from porter_rules.leaving import NPU_HANDLED
from porter_rules.nodes import string_value
from porter_rules.telling import is_telling

_NPU = re.compile(r"(?<![a-z])npu", re.IGNORECASE)
_PORTABLE = Note(NPU_HANDLED.why, whole=True)

_UNKNOWN = (
    '"cuda" is chosen by torch.cuda.is_available() for something of which it is not known '
    "whether it is a device; write accel.device_type if accel.is_available() where it is"
)
_GPU = (
    '"gpu" is what Lightning, DALI and other libraries call CUDA\'s devices, and no NPU: choose it '
    'by accel.device_type == "cuda", and for an NPU what the library has for one; where it is a '
    "name of the program's own, test accel.is_available()"
)


@rule(
    "PTR304",
    on=cst.IfExp,
    rewrites=[
        (
            'device = "cuda" if torch.cuda.is_available() else "cpu"',
            "device = accel.device_type",
        ),
        (
            'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")',
            "device = torch.device(accel.device_type)",
        ),
        (
            'device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")',
            "device = torch.device(accel.device_type)",
        ),
        (
            'd = torch.device("cuda", rank) if torch.cuda.is_available() else torch.device("cpu")',
            "d = accel.torch_device(rank)",
        ),
        (
            "device = 'cuda:0' if torch.cuda.is_available() else 'cpu'",
            "device = str(accel.torch_device(0))",
        ),
        (
            "device = f'cuda:{args.gpu}' if torch.cuda.is_available() else 'cpu'",
            "device = str(accel.torch_device(args.gpu))",
        ),
        (
            "x = x.to('cuda:1' if torch.cuda.is_available() else 'cpu')",
            "x = x.to(accel.torch_device(1))",
        ),
        (
            "device = 'cpu' if not torch.cuda.is_available() else 'cuda'",
            "device = accel.device_type",
        ),
        (
            "m = Net(('cuda' if torch.cuda.is_available() else 'cpu'), 3)",
            "m = Net((accel.device_type), 3)",
        ),
        (
            "print(f\"on {'cuda' if torch.cuda.is_available() else 'cpu'}\")",
            'print(f"on {accel.device_type}")',
        ),
        (
            "def f(device='cuda' if torch.cuda.is_available() else 'cpu'): ...",
            "def f(device=accel.device_type): ...",
        ),
        (
            "device = (\n    'cuda'\n    if torch.cuda.is_available()\n    else 'cpu'\n)",
            "device = (\n    accel.device_type\n)",
        ),
        (
            "d = 'mps' if torch.backends.mps.is_available() else"
            " 'cuda' if torch.cuda.is_available() else 'cpu'",
            "d = 'mps' if torch.backends.mps.is_available() else accel.device_type",
        ),
    ],
    manual=[
        'mode = "cuda" if torch.cuda.is_available() else "auto"',
        'run("cuda" if torch.cuda.is_available() else None)',
        'device = "gpu" if torch.cuda.is_available() else "cpu"',
    ],
    notes=[
        'd = "npu" if is_npu_available() else "cuda" if torch.cuda.is_available() else "cpu"',
        'd = "cuda" if torch.cuda.is_available() else "npu" if torch.npu.is_available() else "cpu"',
        'x = x.npu() if hasattr(torch, "npu") else x.cuda()',
    ],
    valid=[
        "print(f\"on {'gpu' if torch.cuda.is_available() else 'cpu'}\")",
        'd = torch.device("cuda" if torch.cuda.is_available() and not args.no_cuda else "cpu")',
        'd = "cuda" if use_cuda else "cpu"',
        "t = torch.float16 if torch.cuda.is_available() else torch.float32",
        'b = "nccl" if torch.cuda.is_available() else "gloo"',
        "d = f'cuda:{pick()}' if torch.cuda.is_available() else 'cpu'",
        'device = "cuda" if torch.cuda.is_available() else None',
        'd = "cuda" if torch.cuda.is_available() else "mps" if has_mps else "cpu"',
    ],
)
def availability_ternary(original: cst.IfExp, updated: cst.IfExp, ctx: Context) -> Outcome:
    """Take the choice between "cuda" and "cpu" from the shim, as one edit.

    `accel.device_type` is "cuda" on CUDA, where `torch.cuda.is_available()` is true, and "cpu"
    where there is no accelerator: it is the whole choice. With an index it is
    `accel.torch_device(i)`, or a str of it. The negated form, and the one with `torch.device` in
    both branches, are the same choice.

    A choice that also asks something else (`and not args.no_cuda`), has a third answer ("mps") or
    an index that has to be computed keeps its form: test and string are ported each by its own
    rule.

    A choice that knows the NPU already is left as a whole. So is one between "cuda" and something
    that is no device, where it isn't known what it is for, and one of "gpu", which is the name of
    CUDA's devices in other libraries.
    """
    if _knows_npu(original):
        return None if updated.deep_equals(original) else _PORTABLE
    found = choice(original, updated, ctx)
    if found is None or ctx.within("npu_aware"):
        return None
    use = use_of_chosen(found, original, ctx)
    if string_value(found.chosen) == "gpu" and _is_value(ctx.role(original)):
        return Manual(_GPU, groups=ctx.guards)
    if use is Use.UNKNOWN and device_string(found.chosen, ctx) == DeviceString():
        return Manual(_UNKNOWN, groups=ctx.guards)
    device = device_of_choice(found, use, ctx)
    if device is None or (has_index(device, ctx) and _is_only_argument_of_constructor(ctx)):
        return None
    return ported(device, ctx.role(original), ctx)


def _is_value(role: Role) -> bool:
    """Whether something gets the choice as it is: it is no piece of a text, and no key."""
    return role.kind in ("assign", "default", "keyword", "return", "value") or (
        role.kind == "argument" and not is_telling(role.callee)
    )


def _knows_npu(node: cst.BaseExpression) -> bool:
    """Whether a test of the choice, or what it chooses, is an NPU."""
    if not isinstance(node, cst.IfExp):
        return (string_value(node) or "").startswith("npu")
    test = cst.Module([]).code_for_node(node.test)
    return bool(_NPU.search(test)) or _knows_npu(node.body) or _knows_npu(node.orelse)


def _is_only_argument_of_constructor(ctx: Context) -> bool:
    """Whether torch.device(...) is around the choice, which PTR301 replaces as well."""
    if not isinstance(ctx.parent, cst.Arg):
        return False
    call = ctx.stack[-2]
    return isinstance(call, cst.Call) and is_constructor(call, ctx) and len(call.args) == 1
