"""`"cuda" if torch.cuda.is_available() else "cpu"`."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.device_arguments import Use
from porter_rules.device_roles import ported, use_of
from porter_rules.device_strings import DeviceString, device_string
from porter_rules.nodes import is_runtime, string_value


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
    ],
    valid=[
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

    `accel.device_type` is "cuda" where `torch.cuda.is_available()` is true, and "cpu" where there
    is no accelerator: it is the whole choice. With an index it is `accel.torch_device(i)`, or a str
    of it. The negated form, and the one with `torch.device` in both branches, are the same choice.

    A choice that also asks something else (`and not args.no_cuda`), has a third answer ("mps") or
    an index that has to be computed keeps its form: test and string are ported each by its own
    rule.

    Not rewritten: a choice between "cuda" and something that is no device, of which it isn't
    known what it is for. Test and string are left together.
    """
    available = _asks_for_cuda(original.test, ctx)
    if available is None:
        return None
    chosen, fallback = original.body, original.orelse
    result = updated.body
    if not available:
        chosen, fallback, result = fallback, chosen, updated.orelse
    if _use_of_branch(chosen, original, ctx) is Use.UNKNOWN:
        return Manual(
            '"cuda" is chosen by torch.cuda.is_available() for something of which it is not known '
            "whether it is a device; write accel.device_type if accel.is_available() where it is",
            groups=ctx.guards,
        )
    plain = device_string(chosen, ctx)
    if plain is not None and string_value(fallback) != "cpu":
        return None
    if plain is None and not (_is_torch_device(chosen, ctx) and _is_cpu_device(fallback, ctx)):
        return None
    if not _ported_without_calls(result, ctx):
        return None
    return ported(result, ctx.role(original), ctx)


def _use_of_branch(branch: cst.BaseExpression, whole: cst.IfExp, ctx: Context) -> Use:
    """Return what a branch of the choice is for, where it is plain "cuda"."""
    if device_string(branch, ctx) != DeviceString():
        return Use.ELSEWHERE
    return use_of(branch, replace(ctx, stack=[*ctx.stack, whole]))


def _asks_for_cuda(test: cst.BaseExpression, ctx: Context) -> bool | None:
    """Return True for `torch.cuda.is_available()`, False for its negation, None for the rest."""
    match test:
        case cst.UnaryOperation(operator=cst.Not(), expression=cst.Call() as inner):
            return None if _asks_for_cuda(inner, ctx) is None else False
        case cst.Call(args=[]) if ctx.qualified(test.func) == "torch.cuda.is_available":
            return True
    return None


def _is_torch_device(node: cst.BaseExpression, ctx: Context) -> bool:
    return isinstance(node, cst.Call) and ctx.qualified(node.func) == "torch.device"


def _is_cpu_device(node: cst.BaseExpression, ctx: Context) -> bool:
    return (
        isinstance(node, cst.Call)
        and _is_torch_device(node, ctx)
        and len(node.args) == 1
        and string_value(node.args[0].value) == "cpu"
    )


def _ported_without_calls(node: cst.BaseExpression, ctx: Context) -> bool:
    """Whether the branch was ported, and may be evaluated where there is no accelerator.

    An index that is computed might fail there: it was never asked for on a CPU.
    """
    match node:
        case cst.Call(args=[cst.Arg(value=inner)]) if not is_runtime(node.func, ctx):
            return _ported_without_calls(inner, ctx)  # str(...), torch.device(...)
        case cst.Call(args=[cst.Arg(value=index)]):
            return _is_plain(index) or is_runtime(index, ctx)
    return is_runtime(node, ctx)


def _is_plain(node: cst.BaseExpression) -> bool:
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name | cst.Integer)
