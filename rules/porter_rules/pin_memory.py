"""Pinned host memory."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Note, Outcome, rule
from porter_rules.device_strings import device_string, gives_text
from porter_rules.nodes import argument, string_value

_FACTORIES = frozenset(
    """
    empty empty_strided full ones zeros rand randn randint randperm arange linspace logspace eye
    tensor empty_like ones_like zeros_like full_like rand_like randn_like
    new_empty new_zeros new_ones new_full new_tensor sparse_coo_tensor
    """.split()
)

_PINS = Note(
    "pin_memory=True of a DataLoader pins for the accelerator that is there, and only warns "
    "without one"
)


@rule(
    "PTR601",
    on=(cst.Call, cst.SimpleString),
    needs=("pin_memory",),
    rewrites=[
        ("x = x.pin_memory()\n", "x = accel.pin_memory(x)\n"),
        (
            "x = batch['x'].pin_memory().cuda(non_blocking=True)\n",
            "x = accel.pin_memory(batch['x']).to(accel.device_type, non_blocking=True)\n",
        ),
        (
            "xs = [t.half().pin_memory() for t in xs]\n",
            "xs = [accel.pin_memory(t.half()) for t in xs]\n",
        ),
        ("x = (a + b).pin_memory()\n", "x = accel.pin_memory((a + b))\n"),
        (
            "import torch\nx = torch.empty(4, pin_memory=True)\n",
            "import torch\nx = torch.empty(4, pin_memory=accel.is_available())\n",
        ),
        (
            "y = x.new_empty((2, 3), dtype=d, pin_memory=True)\n",
            "y = x.new_empty((2, 3), dtype=d, pin_memory=accel.is_available())\n",
        ),
        (
            "import torch\n"
            'd = DataLoader(x, pin_memory=torch.cuda.is_available(), pin_memory_device="cuda")\n',
            "import torch\n"
            "d = DataLoader(x, pin_memory=accel.is_available(), "
            "pin_memory_device=accel.device_type)\n",
        ),
    ],
    manual=[
        'x = x.pin_memory("cuda")\n',
        'loader = DataLoader(ds, pin_memory=True, pin_memory_device="cuda")\n',
        'loader = DataLoader(ds, pin_memory=True, pin_memory_device="cuda:0")\n',
    ],
    notes=[
        "loader = DataLoader(ds, pin_memory=True, num_workers=4)\n",
        "loader = make_loader(ds, pin_memory=True)\n",
        'options = {"num_workers": 4, "pin_memory": True}\n',
    ],
    valid=[
        "self.pin_memory = pin_memory\n",
        "loader = DataLoader(ds, pin_memory=False)\n",
        "loader = DataLoader(ds, pin_memory=args.pin)\n",
        "if loader.pin_memory:\n    pass\n",
        'options = {"pin_memory": False}\n',
        'pinned = options["pin_memory"]\n',
        "class Batch:\n    def fix(self):\n        return self.pin_memory()\n",
        'y = "cuda:0".pin_memory()\n',
    ],
)
def pin_memory(original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context) -> Outcome:
    """Pin memory for whichever accelerator is there, and not at all without one.

    `x.pin_memory()` becomes `accel.pin_memory(x)`, which calls the same method on CUDA, names the
    device to versions of torch that would otherwise ask for CUDA, and gives back `x` itself on
    the CPU, where torch raises. A tensor factory's `pin_memory=True`, which raises there as well,
    becomes `accel.is_available()`: True on CUDA.

    A DataLoader's `pin_memory=True`, and that of any other function or of a dict of options, is
    left and noted: a loader pins for the accelerator that is there, and warns without one. With a
    `pin_memory_device` beside it (deprecated) it is left to a person: drop the argument.
    """
    if isinstance(original, cst.SimpleString):
        return _option(original, ctx)
    assert isinstance(original, cst.Call)
    assert isinstance(updated, cst.Call)
    callee = ctx.callee(original)
    name = callee.rpartition(".")[2]
    if name == "pin_memory" and isinstance(updated.func, cst.Attribute):
        return _method(updated, ctx)
    if name.endswith("DataLoader"):
        return _loader(updated, ctx)
    arg = argument(updated, "pin_memory", None)
    if arg is None or not _is_true(arg.value):
        return None
    if name in _FACTORIES and callee.startswith(("torch.", "?.new_")):
        return _with_value(updated, arg, ctx.runtime_call("is_available"))
    return _PINS


def _option(key: cst.SimpleString, ctx: Context) -> Outcome:
    """Answer for `{"pin_memory": True}`."""
    holder = ctx.parent
    if string_value(key) != "pin_memory" or not isinstance(holder, cst.DictElement):
        return None
    return _PINS if holder.key is key and _is_true(holder.value) else None


def _loader(call: cst.Call, ctx: Context) -> Outcome:
    pins = argument(call, "pin_memory", None)
    pins_always = pins is not None and _is_true(pins.value)
    device = argument(call, "pin_memory_device", None)
    named = None if device is None else device_string(device.value, ctx)
    if device is not None and named is not None:
        if pins_always:
            return Manual(
                "pin_memory_device is deprecated, and pinning for a device that isn't there "
                "raises: drop it, since torch pins for the accelerator that it finds"
            )
        return _with_value(call, device, named.as_text(ctx))
    return _PINS if pins_always else None


def _is_true(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "True"


def _with_value(call: cst.Call, arg: cst.Arg, value: cst.BaseExpression) -> cst.Call:
    args = [a.with_changes(value=value) if a is arg else a for a in call.args]
    return call.with_changes(args=args)


def _method(call: cst.Call, ctx: Context) -> Outcome:
    assert isinstance(call.func, cst.Attribute)
    receiver = call.func.value
    match receiver:
        case cst.Name(value="self" | "cls") | cst.Call(func=cst.Name(value="super")):
            return None  # a class's own method
        case cst.Name() | cst.Attribute() if ctx.qualified(receiver) is not None:
            return None  # an import's function, or the shim's
        case cst.Name(value=alias) if alias == ctx.alias:
            return None
    if gives_text(receiver, ctx):
        return None  # a text has no such method
    if call.args:
        return Manual(
            "pin_memory() with a device is deprecated, and wrong for any other accelerator: "
            "write accel.pin_memory(...) without it"
        )
    return call.with_changes(func=ctx.runtime("pin_memory"), args=[cst.Arg(receiver)])
