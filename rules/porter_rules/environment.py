"""Environment variables of CUDA, NCCL and their libraries."""

from __future__ import annotations

import re

import libcst as cst

from porter.rule import Context, Manual, Note, Outcome, Ported, Role, rule
from porter_rules.nodes import string_value
from porter_rules.telling import is_telling

_KEY = re.compile(
    r"((?:CUDA|NCCL|CUBLAS|CUDNN|NVTE|NVIDIA|TORCH_NCCL|TORCH_CUDA|PYTORCH_CUDA|PYTORCH_NVML)"
    r"_[A-Z0-9_]+)(=.*)?"
)
_VISIBLE = "CUDA_VISIBLE_DEVICES"
_TOGETHER = "visible_devices"
_TWINS = {
    "PYTORCH_CUDA_ALLOC_CONF": "PYTORCH_NPU_ALLOC_CONF",
    "CUDA_LAUNCH_BLOCKING": "ASCEND_LAUNCH_BLOCKING",
}
_NCCL = ("NCCL_", "TORCH_NCCL_")
_READS = ("os.environ.get", "os.getenv")
_TAKES_KEYS = frozenset({"update", "dict"})

_WRITE = (
    "CUDA_VISIBLE_DEVICES hides CUDA's devices alone; an Ascend NPU heeds "
    "ASCEND_RT_VISIBLE_DEVICES, with ascending ids: set that to the same value here, still before "
    "torch starts the device"
)
_READ = (
    "CUDA_VISIBLE_DEVICES is read where it may also be written, or from what may not be the "
    "environment: use accel.visible_devices_env as the key if the device's own variable is meant"
)


@rule(
    "PTR604",
    on=(cst.SimpleString, cst.FormattedString, cst.Call),
    needs=(),
    rewrites=[
        (
            'import os, torch\ncvd = os.environ.get("CUDA_VISIBLE_DEVICES")\n',
            "import os, torch\ncvd = os.environ.get(accel.visible_devices_env)\n",
        ),
        (
            'import os, torch\nids = os.getenv("CUDA_VISIBLE_DEVICES", "0").split(",")\n',
            'import os, torch\nids = os.getenv(accel.visible_devices_env, "0").split(",")\n',
        ),
        (
            'import os, torch\nif "CUDA_VISIBLE_DEVICES" in os.environ:\n'
            '    n = len(os.environ["CUDA_VISIBLE_DEVICES"].split(","))\n',
            "import os, torch\nif accel.visible_devices_env in os.environ:\n"
            '    n = len(os.environ[accel.visible_devices_env].split(","))\n',
        ),
        (
            "from os import environ\nimport torch\nprint(environ['CUDA_VISIBLE_DEVICES'])\n",
            "from os import environ\nimport torch\nprint(environ[accel.visible_devices_env])\n",
        ),
    ],
    manual=[
        'import os\nos.environ["CUDA_VISIBLE_DEVICES"] = "1,0"\nimport torch\n',
        'import os\nos.environ.pop("CUDA_VISIBLE_DEVICES")\n',
        'import os\nos.environ.setdefault("CUDA_VISIBLE_DEVICES", "0")\n',
        'import os\ndel os.environ["CUDA_VISIBLE_DEVICES"]\n',
        'import os\nos.environ.update(CUDA_VISIBLE_DEVICES="0")\n',
        'import os\nenv = {**os.environ, "CUDA_VISIBLE_DEVICES": ids}\n',
        'env["CUDA_VISIBLE_DEVICES"] = ids\n',
        'command = [f"CUDA_VISIBLE_DEVICES={gpu}", "python"]\n',
        'monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")\n',
        'if "CUDA_VISIBLE_DEVICES" in params:\n    pass\n',
        'n = len(settings["CUDA_VISIBLE_DEVICES"])\n',
        'import os\nassert "CUDA_DEVICE_MAX_CONNECTIONS" in os.environ\n',
        'import os\nok = os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] == "1"\n',
        'import os\nok = os.environ.get("CUDA_DEVICE_MAX_CONNECTIONS") == "1"\n',
        'import os, torch\nos.environ["CUDA_VISIBLE_DEVICES"] = "0"\n'
        'n = os.environ["CUDA_VISIBLE_DEVICES"]\n',
    ],
    notes=[
        'import os\nos.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"\n',
        'import os\nos.environ["CUDA_LAUNCH_BLOCKING"] = "1"\n',
        'import os\nos.environ["NCCL_DEBUG"] = "INFO"\n',
        'import os\nos.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # CUDA\n',
        'import os\nos.environ.setdefault("NCCL_BLOCKING_WAIT", "1")\n',
        'import os\nif os.getenv("NCCL_P2P_DISABLE") is None:\n    f()\n',
        'import os\nif "NCCL_DEBUG" not in os.environ:\n    f()\n',
    ],
    valid=[
        'logging.warning("CUDA_VISIBLE_DEVICES is not set.")\n',
        'print("CUDA_VISIBLE_DEVICES", ids)\n',
        'print(f"CUDA_VISIBLE_DEVICES={ids}")\n',
        'import os\ntimeout = os.environ.get("AXOLOTL_NCCL_TIMEOUT", 1800)\n',
        'import os\nos.environ["MASTER_PORT"] = "cuda"\n',
    ],
)
def environment(original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context) -> Outcome:
    """Port reads of CUDA_VISIBLE_DEVICES; note or point out the other variables.

    Reading `os.environ["CUDA_VISIBLE_DEVICES"]` becomes reading the variable of the device that
    is there, `accel.visible_devices_env`: the same text on CUDA, and without an accelerator.
    A file that also writes the variable keeps its reads: what it reads is what it wrote. Writes
    are left, since they have to stay ahead of torch, which is where the shim can't be imported
    yet; an NPU heeds ASCEND_RT_VISIBLE_DEVICES, whose ids must ascend.

    Settings such as NCCL_DEBUG, CUDA_LAUNCH_BLOCKING or PYTORCH_CUDA_ALLOC_CONF do no harm on
    other devices; they stay, with a note that names Ascend's own variable where there is one. A
    check that insists on CUDA's variable is left to a person.
    """
    if isinstance(original, cst.Call):
        return _keywords(original, ctx)
    found = _KEY.fullmatch(_start(original))
    if found is None:
        return None
    key, assigned = found.groups()
    role = ctx.role(original)
    called = role.callee.rpartition(".")[2]
    if is_telling(role.callee) or role.kind == "raise":
        return None
    if key == _VISIBLE:
        if assigned is None and _reads_environment(original, role, ctx):
            return Ported(ctx.runtime("visible_devices_env"), (_TOGETHER,))
        reads = role.kind == "compare" or called in ("get", "getenv")
        reads |= role.kind == "index" and bool(ctx.stack)  # a target's index is its own fragment
        return Manual(_READ if reads else _WRITE, groups=(_TOGETHER,))
    if _insists(key, ctx):
        return Manual(
            f"a check on {key}, which only CUDA's libraries heed: make it under "
            'accel.device_type == "cuda"'
        )
    return _note(key)


def _keywords(call: cst.Call, ctx: Context) -> Outcome:
    """Answer for `dict(os.environ, CUDA_VISIBLE_DEVICES="0")`."""
    if ctx.callee(call).rpartition(".")[2] not in _TAKES_KEYS:
        return None
    if not any(a.keyword is not None and a.keyword.value == _VISIBLE for a in call.args):
        return None
    return Manual(_WRITE, whole=False, groups=(_TOGETHER,))


def _note(key: str) -> Note:
    twin = _TWINS.get(key)
    if twin is not None:
        return Note(f"{key} does no harm off CUDA; an Ascend NPU heeds {twin}")
    if key.startswith(_NCCL):
        return Note(f"{key} is heeded by NCCL alone and does no harm with HCCL or gloo")
    return Note(f"{key} is heeded on CUDA alone and does no harm elsewhere")


def _start(node: cst.BaseExpression) -> str:
    """Return a string's value, or the text that an f-string starts with."""
    match node:
        case cst.FormattedString(parts=[cst.FormattedStringText(value=text), *_]):
            return text
    return string_value(node) or ""


def _reads_environment(original: cst.BaseExpression, role: Role, ctx: Context) -> bool:
    if role.kind == "argument":
        return role.position == 0 and role.callee in _READS
    if role.kind == "compare":
        compared = ctx.parent
        return (
            isinstance(compared, cst.Comparison)
            and compared.left is original
            and len(compared.comparisons) == 1
            and isinstance(compared.comparisons[0].operator, cst.In | cst.NotIn)
            and ctx.qualified(compared.comparisons[0].comparator) == "os.environ"
        )
    for node in reversed(ctx.stack):
        if isinstance(node, cst.Subscript):
            return ctx.qualified(node.value) == "os.environ"
        if not isinstance(node, cst.Index | cst.SubscriptElement):
            return False
    return False


def _insists(key: str, ctx: Context) -> bool:
    """Whether the variable's value is compared, or one of CUDA's own has to be there."""
    for node in ctx.stack:
        if isinstance(node, cst.Comparison):
            match node.comparisons[0].operator:
                case cst.Is() | cst.IsNot():
                    continue
                case cst.In() | cst.NotIn():
                    return not key.startswith(_NCCL)
            return True
    return False
