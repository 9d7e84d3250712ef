"""The option `--device` of a command, with the values that it may take."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.comparison_forms import with_device_type
from porter_rules.device_arguments import OPTIONS, has_choices
from porter_rules.device_names import declares_device, last_name
from porter_rules.device_strings import DeviceString, device_string, looks_like_device
from porter_rules.nodes import argument, elements, is_runtime, string_value


@rule(
    "PTR306",
    on=cst.Call,
    rewrites=[
        (
            'p.add_argument("--device", default="cuda",'
            ' choices=["cuda", "cpu"], help="cuda or cpu")',
            'p.add_argument("--device", default=accel.device_type,'
            ' choices=list(dict.fromkeys(["cuda", "cpu", accel.device_type])), help="cuda or cpu")',
        ),
        (
            'p.add_argument("-d", "--train-device", choices=("cpu", "cuda"), default="cpu")',
            'p.add_argument("-d", "--train-device",'
            ' choices=list(dict.fromkeys(("cpu", "cuda", accel.device_type))), default="cpu")',
        ),
        (
            'p.add_argument("--dev", default="cuda", choices={"cuda", "cpu"})',
            'p.add_argument("--dev", default=accel.device_type,'
            ' choices={"cuda", "cpu", accel.device_type})',
        ),
        (
            'p.add_argument("--device", choices=["auto", "cuda"])',
            'p.add_argument("--device",'
            ' choices=list(dict.fromkeys(["auto", "cuda", accel.device_type])))',
        ),
        (
            "p.add_argument(\n"
            '    "--device",\n'
            '    default="cuda",\n'
            "    choices=[\n"
            '        "cuda",  # NVIDIA\n'
            '        "cpu",\n'
            "    ],\n"
            ")",
            "p.add_argument(\n"
            '    "--device",\n'
            "    default=accel.device_type,\n"
            "    choices=list(dict.fromkeys([\n"
            '        "cuda",  # NVIDIA\n'
            '        "cpu",\n'
            "        accel.device_type,\n"
            "    ])),\n"
            ")",
        ),
        (
            "import click\n"
            '@click.option("--device", type=click.Choice(["cuda", "cpu"]), default="cuda")\n'
            "def main(device): ...",
            "import click\n"
            '@click.option("--device",'
            ' type=click.Choice(list(dict.fromkeys(["cuda", "cpu", accel.device_type]))),'
            " default=accel.device_type)\n"
            "def main(device): ...",
        ),
        (
            'p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu",'
            ' choices=["cuda", "cpu"])',
            'p.add_argument("--device", default=accel.device_type,'
            ' choices=list(dict.fromkeys(["cuda", "cpu", accel.device_type])))',
        ),
    ],
    manual=[
        'p.add_argument("--device", default="cuda", choices=DEVICES)',
        'p.add_argument("--device", default="cuda", choices=["cuda:0", "cuda:1"])',
        'p.add_argument("--device", default="cuda:0", choices=["cuda:0", "cpu"])',
        'p.add_argument("--backend", default="cuda", choices=["cuda", "numpy"])',
    ],
    valid=[
        'p.add_argument("--device", default="cpu", choices=["cpu"], help="no cuda")',
        'p.add_argument("--device", default="cuda")',
        'p.add_argument("--device", choices=list(dict.fromkeys(["cuda", accel.device_type])))',
    ],
)
def argparse_device(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Let an option for the device take the resolved type, and default to it.

    `default` and `choices` change together: argparse doesn't check a default against the choices,
    but a user who passes `--device npu` would be refused. The resolved type is put behind the old
    choices, and taken out again where it is one of them, so that on CUDA and on the CPU the list
    and the help text are the old ones. click's `Choice` is handled like argparse's `choices`.

    What a user passes is not touched: comparisons with it accept "cuda" and the resolved type.

    Not rewritten: choices that aren't written out in the call, or that hold devices with an index;
    options that aren't about a device (`--backend`).
    """
    if last_name(ctx.callee(original)) not in OPTIONS or not has_choices(original):
        return None
    default = argument(original, "default", None)
    wants_cuda = default is not None and looks_like_device(default.value)
    kind = "choices" if argument(original, "choices", None) is not None else "type"
    limits = argument(original, kind, None)
    assert limits is not None
    display = _display(limits.value)
    listed = elements(display)
    if any(is_runtime(e, ctx) for e in listed):
        return None
    holds_cuda = any(looks_like_device(e) for e in listed)
    if not wants_cuda and not holds_cuda:
        return None
    if not declares_device(original):
        return Manual(
            'an option that takes "cuda", and whose name does not say that it is a device; '
            "if it is, write default=accel.device_type and put that among the choices"
        )
    plain = default is None or not wants_cuda or device_string(default.value, ctx) == DeviceString()
    if not plain or any(looks_like_device(e) and string_value(e) != "cuda" for e in listed):
        return Manual(
            "an option whose choices hold a CUDA device with an index; write "
            "str(accel.torch_device(i)) for each of them and for the default"
        )
    if display is None or not holds_cuda:
        return Manual(
            'an option with the default "cuda" whose choices are not written out beside it; '
            "put accel.device_type among them, and write default=accel.device_type"
        )
    args = []
    for old, arg in zip(original.args, updated.args, strict=True):
        value = arg.value
        if old is default and wants_cuda:
            value = ctx.runtime("device_type")
        elif old is limits:
            value = _extended(value, ctx)
        args.append(arg if value is arg.value else arg.with_changes(value=value))
    return updated.with_changes(args=args)


def _display(limits: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return the list in `choices=[...]` or `type=click.Choice([...])`."""
    match limits:
        case cst.List() | cst.Tuple() | cst.Set():
            return limits
        case cst.Call(func=cst.Attribute(attr=cst.Name(value="Choice")) | cst.Name(value="Choice")):
            return _display(limits.args[0].value) if limits.args else None
    return None


def _extended(limits: cst.BaseExpression, ctx: Context) -> cst.BaseExpression:
    match limits:
        case cst.Call(args=[first, *rest]):
            return limits.with_changes(
                args=[first.with_changes(value=_extended(first.value, ctx)), *rest]
            )
        case cst.Set():
            return with_device_type(limits, ctx)
    keys = cst.Call(
        cst.Attribute(cst.Name("dict"), cst.Name("fromkeys")),
        [cst.Arg(with_device_type(limits, ctx))],
    )
    return cst.Call(cst.Name("list"), [cst.Arg(keys)])
