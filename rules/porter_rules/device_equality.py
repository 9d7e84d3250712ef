"""How one comparison with "cuda" is ported, by its operator and by what is compared."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Note, Outcome
from porter_rules.backend_names import GROUP, is_nccl
from porter_rules.comparison_forms import (
    in_known_devices,
    is_accelerator,
    negated,
    only_as,
    or_other,
)
from porter_rules.device_constructor import resolved
from porter_rules.device_strings import DeviceString, device_string, looks_like_device
from porter_rules.device_subjects import Subject, is_simple, subject
from porter_rules.leaving import NPU_HANDLED
from porter_rules.names import mirrors
from porter_rules.nodes import elements, is_runtime, string_value

_UNKNOWN = (
    'compared with "cuda", and it is not known whether the other side is a device; if it is, '
    "write accel.is_accelerator(...), which takes tensors, modules, devices and strings"
)
_KEY = Note('asks for the key "cuda", which stays as it was stored')
_CHAIN = (
    'a chain of comparisons with "cuda": split it, and write accel.is_accelerator(...) for each'
)
_INDEX = (
    "compared with a CUDA device of a certain index; write accel.is_accelerator(d) and "
    "torch.device(d).index == <index>"
)
_TWICE = (
    "the port would evaluate this twice, as accel.is_accelerator(d) and d == accel.device_type: "
    "give it a name first"
)
_NEVER = (
    "a torch.device never equals a str, so this comparison has one answer everywhere; "
    "if its type was meant, write accel.is_accelerator(...)"
)


def _operands(node: cst.Comparison) -> list[cst.BaseExpression]:
    return [node.left, *(t.comparator for t in node.comparisons)]


def _is_cuda(node: cst.BaseExpression, ctx: Context) -> bool:
    """Whether an operand is a CUDA device, or a list with one."""
    if isinstance(node, cst.Call) and ctx.qualified(node.func) == "torch.device":
        return any(_is_cuda(a.value, ctx) for a in node.args)
    if _is_cuda_type(node, ctx):
        return True
    listed = elements(node)
    if listed:  # one that is ported already names the resolved device as well
        return not any(is_runtime(e, ctx) for e in listed) and any(_is_cuda(e, ctx) for e in listed)
    return looks_like_device(node) or device_string(node, ctx) is not None


def _is_cuda_type(node: cst.BaseExpression, ctx: Context) -> bool:
    """Whether the node is `torch.device("cuda").type`, which is but another spelling of "cuda"."""
    match node:
        case cst.Attribute(value=cst.Call(func=func, args=[arg, *_]), attr=cst.Name(value="type")):
            is_device = ctx.qualified(func) == "torch.device"
            return is_device and device_string(arg.value, ctx) is not None
    return False


def compared(original: cst.Comparison, updated: cst.Comparison, ctx: Context) -> Outcome:
    """Port a comparison; None where nothing in it is a CUDA device."""
    if not any(_is_cuda(n, ctx) for n in _operands(original)):
        return None
    if ctx.within("npu_aware"):
        return NPU_HANDLED
    if len(original.comparisons) != 1:
        return Manual(_CHAIN)
    (left, new_left), (right, new_right) = zip(_operands(original), _operands(updated), strict=True)
    operator = original.comparisons[0].operator
    if isinstance(operator, cst.Equal | cst.NotEqual):
        if _is_cuda(left, ctx):
            left, new_left, right, new_right = right, new_right, left, new_left
        outcome = _equal(left, subject(left, new_left, ctx), right, new_right, ctx)
    elif not isinstance(operator, cst.In | cst.NotIn):
        return Manual(_UNKNOWN)
    elif _is_cuda(left, ctx):
        if _is_dict(right):
            return _KEY
        outcome = _contained(left, subject(right, new_right, ctx), ctx)
    else:
        outcome = _listed(updated, subject(left, new_left, ctx), ctx)
        if isinstance(outcome, cst.Comparison):
            return outcome  # it has the operator already
    return negated(outcome) if isinstance(operator, cst.NotEqual | cst.NotIn) else outcome


def _contained(text: cst.BaseExpression, found: Subject, ctx: Context) -> Outcome:
    """Port `"cuda" in d`."""
    if not found.known or device_string(text, ctx) != DeviceString():
        return Manual(_UNKNOWN)
    return is_accelerator(found, ctx)


def _is_dict(node: cst.BaseExpression) -> bool:
    """Whether the expression is called a dict, or asked for its keys."""
    match node:
        case cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name)):
            return name.endswith("dict")
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="keys")), args=[]):
            return True
    return False


def _equal(
    other: cst.BaseExpression,
    found: Subject,
    constant: cst.BaseExpression,
    new_constant: cst.BaseExpression,
    ctx: Context,
) -> Outcome:
    """Port `other == constant`; `new_constant` is what other rules made of the constant."""
    device = device_string(new_constant, ctx)
    if _is_cuda_type(constant, ctx):
        device = DeviceString()
    is_object = isinstance(constant, cst.Call) and device is None  # torch.device("cuda:0")
    if is_object:
        made = resolved(new_constant, ctx) if isinstance(new_constant, cst.Call) else None
        if not isinstance(made, cst.Call):
            return Manual(_UNKNOWN)
        new_constant = made
        found = Subject(found.whole, found.whole, known=True)
    if not found.known or (device is None and not is_object):
        return Manual(_UNKNOWN)
    if device is not None and _is_torch_device(other, ctx):
        return Manual(_NEVER)
    if device is not None and device.index is None and found.typed:
        return is_accelerator(found, ctx)
    if not is_simple(found.whole):
        return Manual(_TWICE)
    return only_as(found, new_constant if device is None else device.as_text(ctx), ctx)


def _is_torch_device(node: cst.BaseExpression, ctx: Context) -> bool:
    made_by = ctx.instances.get(node.value, "") if isinstance(node, cst.Name) else ""
    return made_by == "torch.device" or mirrors(made_by, "torch_device")


def _listed(updated: cst.Comparison, found: Subject, ctx: Context) -> Outcome:
    """Port `d in ("cuda", ...)`."""
    display = updated.comparisons[0].comparator
    if not isinstance(display, cst.List | cst.Tuple | cst.Set):
        return Manual(_UNKNOWN)  # a search in a text
    listed = elements(display)
    names = [string_value(e) for e in listed]
    if "npu" in names:
        return NPU_HANDLED
    if any(is_nccl(e, ctx) for e in listed):
        return Manual(_UNKNOWN, groups=(GROUP,))
    if not found.known or None in names:
        return Manual(_UNKNOWN)
    if any(looks_like_device(e) and string_value(e) != "cuda" for e in listed):
        return Manual(_INDEX)
    if "cpu" in names:
        return in_known_devices(updated, ctx)
    if set(names) == {"cuda"} and found.typed:
        return is_accelerator(found, ctx)
    if not is_simple(found.whole):
        return Manual(_TWICE)
    if set(names) == {"cuda"}:
        return only_as(found, ctx.runtime("device_type"), ctx)
    return or_other(found, updated, ctx)


def starts_with(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Port a call `str(d).startswith("cuda")`."""
    match original, updated:
        case (
            cst.Call(
                func=cst.Attribute(value=whole, attr=cst.Name(value="startswith")),
                args=[cst.Arg(value=prefix)],
            ),
            cst.Call(func=cst.Attribute(value=new_whole)),
        ):
            pass
        case _:
            return None
    if not _is_cuda(prefix, ctx):
        return None
    if ctx.within("npu_aware"):
        return NPU_HANDLED
    found = subject(whole, new_whole, ctx)
    if not found.known:
        return Manual(_UNKNOWN)
    if string_value(prefix) != "cuda":
        return Manual(
            "a device string is taken apart; write torch.device(d).index under "
            "accel.is_accelerator(d)"
        )
    return is_accelerator(found, ctx)
