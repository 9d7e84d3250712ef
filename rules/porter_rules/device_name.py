"""Strings that look like a device, where it isn't known whether they are one."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Note, Outcome, Role, rule
from porter_rules.availability import choices
from porter_rules.device_arguments import Use, above
from porter_rules.device_places import is_literal_type
from porter_rules.device_roles import use_of
from porter_rules.device_strings import OTHER_DEVICES, device_string, looks_like_device
from porter_rules.leaving import NPU_HANDLED
from porter_rules.nodes import elements, string_value

_MEMBER = Note(
    '"cuda" is a name that configurations and callers know: of an enum\'s member, or of what is '
    "registered under it"
)
_VOCABULARY = Note('"cuda" stands among other names in a vocabulary of its own, and stays one')
_PART = (
    "a device string is put together or taken apart in a way that is not known; write "
    "str(accel.torch_device(i)) for the whole, or torch.device(d).index for the index"
)
_FOREIGN = (
    "a device of another library than torch, or a kernel that is registered for CUDA: look up what "
    "that library calls an NPU, if it knows one"
)
_LITERAL = (
    'a type that allows "cuda" by name: add the names of the other devices to it, since type '
    "checkers and pydantic refuse what it lacks"
)


@rule(
    "PTR309",
    on=(cst.SimpleString, cst.FormattedString, cst.ConcatenatedString),
    manual=[
        'run("cuda")',
        'x = Net(3, "cuda")',
        'run(mode="cuda")',
        'backend = "cuda"',
        'synchronize(["cuda"])',
        'def f(kind="cuda"): ...',
        'def f():\n    return "cuda"',
        'index = int(device.replace("cuda:", ""))',
        'name = "cuda:" + str(i) + ".pt"',
        'FORMAT = "cuda:{}"',
        'import jax\nd = jax.devices("cuda")[0]',
        'import tvm\nd = tvm.device("cuda:0")',
        '@torch.library.custom_op("a::b", mutates_args=(), device_types="cuda")\ndef f(x): ...',
        'run(["--backend", "cuda"])',
        'import random\nbackend = random.choice(["cpu", "cuda"])',
        'def f(torch):\n    return torch.device("cuda")',
        'd = "cuda:" f"{i}"',
        'd = f"cuda:{a}{b}"',
        'device = f"cuda:{a}{b}"',
        'device = "cuda:{}".format("cuda:" + str(i))',
        'device = "cuda:%s" % ("0" if one else f"cuda:{i}")',
        'device = "cuda:" + ("cuda" if one else index)',
        "e = 'cuda' if one else f'cuda:{i if two else \"cpu\"}'",
        'x = x.to("cuda:" "0")',
        'device = "cuda:{}".format(*ids)',
        's = torch.load(p, map_location=dict([("cuda:0", "cpu")]))',
        'ok = re.fullmatch(r"cuda:[0-9]+", d)',
        'from typing import Literal\ndef f(device: Literal["cuda", "cpu"] = "cpu"): ...',
        'if torch.cuda.is_available():\n    backend = "cuda"',
        'x = run("cuda") if torch.cuda.is_available() else run("cpu")',
        'fast, kind = (True, "cuda") if torch.cuda.is_available() else (False, "cpu")',
        'ok = fast and torch.cuda.is_available() and run("cuda")',
    ],
    notes=[
        "from enum import Enum\nclass D(Enum):\n    device = 'cuda'\n    second = 'cuda:1'",
        'from enum import Enum\nclass RNGType(Enum):\n    TORCH = "torch"\n    CUDA = "cuda"',
        'synchronize(["torch", "cuda"])',
        'registry.register("cuda", Accelerator, description="one of NVIDIA\'s")',
        '@BACKENDS.register_module("cuda")\nclass Backend: ...',
    ],
    valid=[
        'print("cuda")',
        "print(f'cuda:{i}')",
        'x = "cuda is fast"',
        'x = "cuda_rng"',
        'device = "cuda"',
        'x = {"cuda": 1}',
        'x = hasattr(torch, "cuda")',
        '__all__ = ["cuda"]',
        'is_cuda = get_kwarg("cuda", kwargs)',
        'fast = opts.get_option("cuda")',
        'use_cuda = lookup(settings, "cuda")',
    ],
)
def device_name(original: cst.BaseString, updated: cst.BaseString, ctx: Context) -> Outcome:
    """Report strings such as "cuda" of which it isn't known whether they are a device.

    A positional argument of a function that porter doesn't know, a variable whose name says
    nothing of a device, an element of some list: where the string is a device, write
    `accel.device_type`, or `str(accel.torch_device(i))`; where it is a name of something else, it
    can stay. An availability test around it is left as well: on an NPU it would lead to the
    string that nobody ported.

    Members of an enum, names in a registry, and strings among other names are a vocabulary of the
    project and are only noted. The name of an option that is looked up is passed over.
    """
    if not looks_like_device(original) or ctx.within("triton"):
        return None
    use = use_of(original, ctx)
    if use in (Use.DEVICE, Use.TEXT) and device_string(original, ctx) is None:
        use = Use.PART
    if use not in (Use.PART, Use.UNKNOWN, Use.FOREIGN, Use.MEMBER):
        return None
    if ctx.within("npu_aware"):
        return NPU_HANDLED
    role = ctx.role(original)
    if role.outer is not None and role.outer.name == "__all__":
        return None
    if use is Use.MEMBER:
        return _MEMBER
    if role.kind == "element" and _is_vocabulary(ctx):
        return _VOCABULARY
    groups = (*ctx.guards, *choices(ctx))
    if use is Use.FOREIGN:
        return Manual(_FOREIGN, groups=groups)
    if use is Use.PART:
        return Manual(_LITERAL if is_literal_type(ctx) else _PART, groups=groups)
    return Manual(
        f'"cuda" as {_place(role)}: it is not known whether that is a device; if it is, write '
        "accel.device_type, or str(accel.torch_device(i)) for one with an index; leave it where it "
        "names something of the program's own",
        groups=groups,
    )


def _place(role: Role) -> str:
    match role.kind:
        case "assign":
            return f"the value of {role.name}" if role.name else "a part of an assignment"
        case "default":
            return f"the default of {role.name}"
        case "keyword":
            return f"{role.name}= of {_function(role)}"
        case "argument":
            return f"an argument of {_function(role)}"
        case "return":
            return f"what {role.name or 'a lambda'} returns"
        case "element":
            return "an element of a list"
        case "value":
            return f'the value of "{role.name}"' if role.name else "a value in a dict"
    return "a value"


def _function(role: Role) -> str:
    return "a call" if role.callee == "?" else role.callee.removeprefix("?.")


def _is_vocabulary(ctx: Context) -> bool:
    """Whether another element of the list is a word, but no device."""
    display, _ = above(ctx, cst.List, cst.Tuple, cst.Set)
    words = [string_value(e) or "-" for e in elements(display)]
    devices = OTHER_DEVICES | {"cuda", "auto", "gpu"}
    return any(w.partition(":")[0] not in devices and not w.startswith("-") for w in words)
