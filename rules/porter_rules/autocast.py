"""`torch.cuda.amp.autocast` and `torch.autocast("cuda")`."""

from __future__ import annotations

import re

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.amp_names import (
    CUDA_ONLY,
    OF_A_DEVICE,
    chosen_device,
    device_argument,
    renamed,
    without_device,
)
from porter_rules.arguments import called, keyword, named, with_callee
from porter_rules.nodes import argument, string_value

_WRAPPER = re.compile(r"(?!(?:is|get|set)_)\w*(?:autocast|GradScaler|custom_[fb]wd)\w*")
_CUDA_PARAMETERS = ("enabled", "dtype", "cache_enabled")
_PARAMETERS = ("device_type", "dtype", "enabled", "cache_enabled")
_NONE_BY_DEFAULT = ("dtype", "cache_enabled")


@rule(
    "PTR401",
    on=(cst.Attribute, cst.Call),
    needs=("autocast", "GradScaler"),
    rewrites=[
        (
            "with torch.cuda.amp.autocast():\n    pass\n",
            "with accel.autocast():\n    pass\n",
        ),
        (
            "with torch.cuda.amp.autocast(use_amp):\n    pass\n",
            "with accel.autocast(enabled=use_amp):\n    pass\n",
        ),
        (
            "cm = torch.cuda.amp.autocast(True, torch.bfloat16)",
            "cm = accel.autocast(enabled=True, dtype=torch.bfloat16)",
        ),
        (
            "cm = torch.cuda.amp.autocast(enabled=device.type != 'cpu')",
            "cm = accel.autocast(enabled=device.type != 'cpu')",
        ),
        ("cm = torch.cuda.amp.autocast(**kwargs)", "cm = accel.autocast(**kwargs)"),
        (
            "@torch.cuda.amp.autocast(enabled=False)\ndef f(x): ...\n",
            "@accel.autocast(enabled=False)\ndef f(x): ...\n",
        ),
        ("@torch.cuda.amp.autocast()\ndef f(x): ...\n", "@accel.autocast()\ndef f(x): ...\n"),
        (
            "m.forward = MethodType(torch.cuda.amp.autocast(dtype=d)(m.forward.__func__), m)",
            "m.forward = MethodType(accel.autocast(dtype=d)(m.forward.__func__), m)",
        ),
        ("choose = lambda: torch.cuda.amp.autocast", "choose = lambda: accel.autocast"),
        (
            "from torch.cuda import amp\nwith amp.autocast(flag):\n    pass\n",
            "from torch.cuda import amp\nwith accel.autocast(enabled=flag):\n    pass\n",
        ),
        (
            "import torch.cuda.amp as amp\ncm = amp.autocast_mode.autocast(dtype=d)\n",
            "import torch.cuda.amp as amp\ncm = accel.autocast(dtype=d)\n",
        ),
        (
            'with torch.autocast("cuda", dtype=torch.bfloat16):\n    pass\n',
            "with accel.autocast(cache_enabled=None, dtype=torch.bfloat16):\n    pass\n",
        ),
        (
            'cm = torch.amp.autocast(device_type="cuda", dtype=d, enabled=flag)',
            "cm = accel.autocast(cache_enabled=None, dtype=d, enabled=flag)",
        ),
        (
            'cm = torch.autocast("cuda", d, flag)',
            "cm = accel.autocast(cache_enabled=None, dtype=d, enabled=flag)",
        ),
        (
            'cm = torch.autocast("cuda", d, flag, False)',
            "cm = accel.autocast(dtype=d, enabled=flag, cache_enabled=False)",
        ),
        (
            'cm = torch.autocast(dtype=d, device_type="cuda")',
            "cm = accel.autocast(dtype=d, cache_enabled=None)",
        ),
        (
            'cm = torch.autocast("cuda", enabled=False)',
            "cm = accel.autocast(dtype=None, cache_enabled=None, enabled=False)",
        ),
        (
            'cm = torch.autocast("cuda", cache_enabled=False)',
            "cm = accel.autocast(dtype=None, cache_enabled=False)",
        ),
        ('cm = torch.autocast("cuda")', "cm = accel.autocast(dtype=None, cache_enabled=None)"),
        (
            'from torch import autocast\nwith autocast("cuda", dtype=d):\n    pass\n',
            "from torch import autocast\n"
            "with accel.autocast(cache_enabled=None, dtype=d):\n    pass\n",
        ),
        (
            'from functools import partial\ncm = partial(torch.autocast, "cuda", dtype=d)\n',
            "from functools import partial\n"
            "cm = partial(accel.autocast, cache_enabled=None, dtype=d)\n",
        ),
        (
            "from functools import partial\ncm = partial(torch.cuda.amp.autocast, use_amp)\n",
            "from functools import partial\ncm = partial(accel.autocast, use_amp)\n",
        ),
        (
            'cm = torch.autocast(\n    device_type="cuda",\n    dtype=d,  # as trained\n)',
            "cm = accel.autocast(\n    cache_enabled=None,\n    dtype=d,  # as trained\n)",
        ),
    ],
    manual=[
        'cm = torch.autocast("cuda", *args)',
        'cm = torch.autocast("cuda", **kwargs)',
        'cm = torch.autocast("cuda", dtype=d, **kwargs)',
        'from functools import partial\ncm = partial(torch.autocast, "cuda")\n',
        'cm = torch.autocast("cuda" if use_amp else "cpu", dtype=d)',
        "import torch\ntorch.cuda.amp.autocast = other\n",
        'with maybe_autocast(device_type="cuda", enabled=False):\n    pass\n',
        'cm = my_autocast("cuda")',
        'scaler = ShardedGradScaler(device="cuda")',
    ],
    valid=[
        'cm = torch.autocast("cpu", dtype=torch.bfloat16)',
        "cm = torch.autocast(device_type=device.type, dtype=d)",
        "from torch.cuda.amp import autocast\nwith autocast(flag):\n    pass\n",
        "cm = flow.cuda.amp.autocast(flag)",
        "cm = maybe_autocast(device_type=x.device.type)",
    ],
)
def autocast(original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context) -> Outcome:
    """Run mixed precision on the device that is there: `accel.autocast`.

    Off CUDA both spellings only warn and cast nothing. `accel.autocast` has the signature of
    torch.cuda.amp.autocast, whose first parameter is `enabled`; positional arguments are named, so
    that no reader takes a flag for a device type. It works in `with`, as a decorator and bare.

    torch.autocast goes on with the dtype and the cache of casts that are in force where it isn't
    told, while torch.cuda.amp.autocast starts float16 anew and turns the cache on: so `dtype=None`
    and `cache_enabled=None`, torch.autocast's own defaults, are written where they were left out.
    On CUDA the same torch.autocast is entered with the same arguments; on the CPU it stays
    disabled, as it was.

    A device type that is not the literal "cuda" (`device.type`) is portable and stays. Behind
    stars, and where `partial` leaves them to its callers, it can't be seen which arguments are
    passed: write them out. A function of another name that gets "cuda" as the type
    (`maybe_autocast`, `ShardedGradScaler`) is left: what it does without an accelerator isn't
    known.
    """
    if isinstance(original, cst.Attribute):
        return renamed(original, ctx, "autocast")
    assert isinstance(original, cst.Call)
    assert isinstance(updated, cst.Call)
    qualified, start = called(original, ctx)
    if CUDA_ONLY.get(qualified) == "autocast":
        return None if start else _named(original, updated, ctx)
    if qualified not in OF_A_DEVICE and qualified not in CUDA_ONLY:
        return _wrapper(original, qualified, ctx)
    if OF_A_DEVICE.get(qualified) != "autocast":
        return None
    found = device_argument(original, ctx, "device_type", 0)
    if found is None:
        return None
    index, arg = found
    if string_value(arg.value) != "cuda":
        return chosen_device(original, updated, ctx, index)
    return _without_type(original, updated, ctx, start, index)


def _wrapper(call: cst.Call, qualified: str, ctx: Context) -> Outcome:
    """Answer for functions around autocast and GradScaler that get "cuda" as a device's type."""
    name = qualified.rpartition(".")[2]
    if not _WRAPPER.fullmatch(name):
        return None
    arg = argument(call, "device_type", 0) or argument(call, "device", None)
    if arg is None or string_value(arg.value) != "cuda":
        return None
    return Manual(
        f'`{name}` gets "cuda" as the type of a device, and it is not known what it does without '
        "one: pass the type of the device that the tensors are on, such as `x.device.type`",
        groups=ctx.guards,
    )


def _named(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Name the positional arguments of torch.cuda.amp.autocast.

    An imported name stands for the shim's autocast already, whose signature is the same.
    """
    if isinstance(original.func, cst.Name):
        return None
    args = named(updated.args, _CUDA_PARAMETERS)
    if args is None or args == list(updated.args):
        return None
    return updated.with_changes(func=ctx.runtime("autocast"), args=args)


def _without_type(
    original: cst.Call, updated: cst.Call, ctx: Context, start: int, index: int
) -> Outcome:
    """Put torch.autocast's defaults, where the shim's are others, in the device type's place."""
    missing = [
        name
        for at, name in enumerate(_PARAMETERS)
        if name in _NONE_BY_DEFAULT and argument(original, name, start + at) is None
    ]
    args = named(updated.args[start:], _PARAMETERS)
    unseen = args is None or (missing and any(a.star for a in args))
    left_to_callers = start and "dtype" in missing and original.args[index].keyword is None
    if args is None or unseen or left_to_callers:
        return Manual(
            'torch.autocast("cuda", ...) with arguments that a star or `partial` hides, and that '
            "accel.autocast takes in another order: write them out as "
            "`accel.autocast(enabled=..., dtype=..., cache_enabled=None)`",
            groups=ctx.guards,
        )
    call = updated.with_changes(args=[*updated.args[:start], *args])
    if not missing:
        return without_device(original, call, ctx, index)
    defaults = [keyword(cst.Arg(cst.Name("None")), name) for name in missing]
    device = call.args[index]
    defaults[-1] = keyword(device.with_changes(value=cst.Name("None")), missing[-1])
    changed = [*call.args[:index], *defaults, *call.args[index + 1 :]]
    return with_callee(call.with_changes(args=changed), ctx.runtime("autocast"), start)
