"""What a call takes in the place where a device string is handed to it."""

from __future__ import annotations

import re
from dataclasses import replace
from enum import Enum

import libcst as cst

from porter.rule import Context, Role
from porter_rules.device_names import KEYED, declares_device, last_name, names_device
from porter_rules.nodes import argument, string_value
from porter_rules.telling import is_message


class Use(Enum):
    """What the place of a device string asks of it."""

    DEVICE = "a device, which may be a torch.device as well as a str"
    TEXT = "a device, which has to stay a str"
    KEY = "looks something up"
    WORDS = "text for people, or the name of an attribute"
    ELSEWHERE = "the expression around it has a rule of its own"
    FOREIGN = "a device of another library"
    MEMBER = "a name of the project's own: an enum's member, something in a registry"
    PART = "a piece of a string that is put together or taken apart"
    UNKNOWN = "a value whose meaning is not known"


OPTIONS = frozenset({"add_argument", "addoption", "add_option", "option", "argument"})
"""Functions that declare a command's option: argparse, pytest, optparse, click."""

FIELDS = frozenset({"field", "Field", "ib", "attrib"})
"""Makers of class attributes: dataclasses, pydantic, attrs."""

_ATTRIBUTE_NAMES = frozenset(
    {"getattr", "hasattr", "setattr", "delattr", "import_module", "find_spec", "find_library"}
)
"""Functions that take the name of an attribute, a module or a library."""

_FOREIGN = re.compile(
    r"(?:chainer|ctranslate2|cupy|faster_whisper|jax|mxnet|numba|onnxruntime|paddle|pycuda|taichi"
    r"|tensorflow|tvm|warp|torch\.library)\..*"
)
"""Functions whose devices are not torch's, and torch's own registry of kernels by device."""

_SURGERY = frozenset(
    {"compile", "count", "find", "findall", "fullmatch", "index", "lstrip", "match", "partition"}
    | {"removeprefix", "removesuffix", "replace", "rpartition", "rsplit", "rstrip", "search"}
    | {"split", "strip", "sub"}
)
"""Methods of strings and of regular expressions, which take a string apart."""

_OTHER_CALLEES = re.compile(r"device|.*device_(?:map|mesh)")
"""What has "device" in its name and need not be about one of torch: `lib.device("cuda")`."""

HELP = frozenset(
    {"help", "metavar", "msg", "message", "reason", "description", "title", "doc", "keywords"}
)
"""Keywords, and keys of a dict, whose values are read by people."""

_GETTER = re.compile(
    r"(?:get|has|is|pop|read|take|fetch|parse)_?\w*"
    r"(?:args?|attr|bool|cfg|conf|config|env|field|flag|key|opts?|option|param|setting|switch)"
)
"""Functions that look an option up by its name: `get_kwarg("cuda", kwargs)`."""

_SWITCH = re.compile(r"(?:(?:use|is|has|with|want|enable|no)_?)?cuda")
"""Variables that say whether CUDA is wanted: what makes them takes the name of an option."""

_NAMING = frozenset({"action", "dest", "type", "envvar"})

_POSITIONS = {
    "torch.device": (0, Use.DEVICE),
    "torch.Generator": (0, Use.DEVICE),
    "torch.Stream": (0, Use.DEVICE),
    "torch.load": (1, Use.DEVICE),
    "torch.jit.load": (1, Use.DEVICE),
    "torch.hub.load_state_dict_from_url": (2, Use.DEVICE),
    "torch.set_default_device": (0, Use.DEVICE),
    "torch.get_device_module": (0, Use.DEVICE),
    "torch.distributed.init_device_mesh": (0, Use.TEXT),
    "torch.distributed.device_mesh.init_device_mesh": (0, Use.TEXT),
    "torch.distributed.DeviceMesh": (0, Use.TEXT),
    "torch.distributed.device_mesh.DeviceMesh": (0, Use.TEXT),
}
"""torch's positional parameters that are devices; a device mesh insists on a str."""

_MIXED_PRECISION = ("autocast", "GradScaler", "custom_fwd", "custom_bwd", ".amp.")


def has_own_rule(role: Role, *, direct: bool) -> bool:
    """Whether a string in such a role is another rule's; `direct` if no choice is around it."""
    if role.name == "device_map":
        return role.kind in ("keyword", "assign", "default", "value", "return")
    if role.kind not in ("keyword", "argument"):
        return False
    if any(word in role.callee for word in _MIXED_PRECISION):
        return True
    if role.name == "accelerator" and last_name(role.callee) in ("Trainer", "Fabric"):
        return True  # Lightning's
    return direct and (role.name == "pin_memory_device" or role.callee == "torch.device")


def above(ctx: Context, *types: type[cst.CSTNode]) -> tuple[cst.CSTNode | None, Context]:
    """Return the innermost ancestor of these types, with the context that it stands in.

    None where the engine has cut a very large expression into parts, which don't see it.
    """
    for at in reversed(range(len(ctx.stack))):
        if isinstance(ctx.stack[at], types):
            return ctx.stack[at], replace(ctx, stack=ctx.stack[:at])
    return None, replace(ctx, stack=[])


def call_around(ctx: Context) -> cst.Call | None:
    """Return the innermost call around the node, None where it isn't seen (see `above`)."""
    call, _ = above(ctx, cst.Call)
    return call if isinstance(call, cst.Call) else None


def by_name(name: str) -> Use:
    """Judge a value by the name that it gets."""
    return Use.TEXT if names_device(name) else Use.UNKNOWN


def keyword_use(role: Role, ctx: Context) -> Use:
    """Judge the value of a call's keyword."""
    name = last_name(role.callee)
    if _FOREIGN.fullmatch(role.callee):
        return Use.FOREIGN
    if name in OPTIONS and role.name in ("default", "choices"):
        call = call_around(ctx)
        if call is None:
            return Use.UNKNOWN
        if role.name == "choices" or has_choices(call):
            return Use.ELSEWHERE
        return Use.TEXT if declares_device(call) else Use.UNKNOWN
    if name in FIELDS and role.name == "default":
        return by_name(ctx.fragment_role.name)
    if role.name in HELP or (name in OPTIONS and role.name in _NAMING):
        return Use.WORDS
    if not names_device(role.name):
        return Use.UNKNOWN
    takes_device = role.callee.startswith("torch.") or name == "to" or name.startswith("new_")
    return Use.DEVICE if takes_device else Use.TEXT


def has_choices(call: cst.Call) -> bool:
    """Whether a call that declares an option limits its values: choices=, type=click.Choice()."""
    kind = argument(call, "type", None)
    chosen = kind is not None and isinstance(kind.value, cst.Call)
    return chosen or argument(call, "choices", None) is not None


def argument_use(role: Role, ctx: Context) -> Use:
    """Judge a call's positional argument."""
    name = last_name(role.callee)
    if _FOREIGN.fullmatch(role.callee):
        return Use.FOREIGN
    known = _POSITIONS.get(role.callee)
    if known is not None and role.position == known[0]:
        return known[1]
    if role.position == 0:
        if name == "to" or role.callee.startswith("torch.cuda."):
            return Use.DEVICE
        if name == "cuda":  # `x.cuda("cuda:0")` is PTR101's, a choice between devices is not
            return Use.ELSEWHERE if isinstance(ctx.parent, cst.Arg) else Use.DEVICE
        if name in ("startswith", "endswith"):
            return Use.ELSEWHERE
        if name in ("Option", "Argument", "Field"):  # typer, pydantic
            return by_name(ctx.fragment_role.name)
    if is_words(role, ctx) or (name in _ATTRIBUTE_NAMES and role.position in (0, 1)):
        return Use.WORDS
    if name in KEYED and role.position is not None:
        return _looked_up(role.position - KEYED[name], KEYED[name], ctx)
    if name in _SURGERY:
        return Use.PART
    if "device" in name.lower() and not _OTHER_CALLEES.fullmatch(name):
        return Use.TEXT
    if name == "register" or name.startswith("register_"):
        return Use.MEMBER if role.position == 0 else Use.UNKNOWN
    return Use.KEY if _GETTER.fullmatch(name) or _makes_switch(ctx) else Use.UNKNOWN


def _makes_switch(ctx: Context) -> bool:
    """Whether the call around the node makes a variable such as `use_cuda`."""
    call, around = above(ctx, cst.Call)
    role = around.role(call) if call is not None else Role("other")
    return role.kind == "assign" and _SWITCH.fullmatch(role.name.lower()) is not None


def _looked_up(behind_key: int, key_position: int, ctx: Context) -> Use:
    if behind_key == 0:
        return Use.KEY
    call = call_around(ctx)
    key = argument(call, None, key_position) if call is not None else None
    named = key is not None and names_device(string_value(key.value) or "")
    return Use.TEXT if behind_key == 1 and named else Use.UNKNOWN


def is_words(role: Role, ctx: Context) -> bool:
    """Whether a call's argument is text for people: printed, logged, raised."""
    if role.kind != "argument":
        return False
    raised = ctx.fragment_role.kind == "raise" and call_around(ctx) in ctx.stack[:1]
    return raised or is_message(role.callee)
