"""`"nccl"` as a value: the backend of torch.distributed."""

from __future__ import annotations

import re

import libcst as cst

from porter.rule import Context, Manual, Note, Outcome, Ported, Role, rule
from porter_rules.arguments import keyword
from porter_rules.availability import is_call_of
from porter_rules.backend_names import (
    GROUP,
    WITH_CPU,
    accelerator_backend,
    is_choices,
    is_nccl,
    is_text,
    means_backend,
)
from porter_rules.nodes import string_value

_PART = re.compile(r"cuda:nccl|=nccl$")


@rule(
    "PTR501",
    on=(cst.SimpleString, cst.Attribute),
    needs=("nccl", "NCCL"),
    rewrites=[
        (
            'import torch.distributed as dist\ndist.init_process_group("nccl", rank=r)\n',
            "import torch.distributed as dist\n"
            "dist.init_process_group(accel.dist_backend(), rank=r)\n",
        ),
        (
            'torch.distributed.init_process_group(backend="nccl", init_method="env://")',
            "torch.distributed.init_process_group("
            'backend=accel.dist_backend(), init_method="env://")',
        ),
        (
            'dist.new_group(ranks, timeout, "nccl")',
            "dist.new_group(ranks, timeout, accel.dist_backend())",
        ),
        (
            "import torch.distributed as dist\ndist.init_process_group(dist.Backend.NCCL)\n",
            "import torch.distributed as dist\ndist.init_process_group(accel.dist_backend())\n",
        ),
        (
            'torch.distributed.init_process_group("cpu:gloo,cuda:nccl")',
            "torch.distributed.init_process_group(accel.dist_backend(cpu=True))",
        ),
        (
            'torch.distributed.init_process_group("NCCL")',
            "torch.distributed.init_process_group(accel.dist_backend().upper())",
        ),
        ('def setup(backend="nccl"): ...', "def setup(backend=accel.dist_backend()): ..."),
        ('args.dist_backend = "nccl"', "args.dist_backend = accel.dist_backend()"),
        ('dist_params = dict(backend="nccl")', "dist_params = dict(backend=accel.dist_backend())"),
        (
            'cfg = {"distributed_backend": "nccl"}',
            'cfg = {"distributed_backend": accel.dist_backend()}',
        ),
        (
            'parser.add_argument("--dist-backend", default="nccl", type=str)',
            'parser.add_argument("--dist-backend", default=accel.dist_backend(), type=str)',
        ),
        (
            'self.backend = kwargs.pop("backend", "nccl")',
            'self.backend = kwargs.pop("backend", accel.dist_backend())',
        ),
        (
            'kind = os.environ.get("DIST_BACKEND", "nccl")',
            'kind = os.environ.get("DIST_BACKEND", accel.dist_backend())',
        ),
        (
            'x = getattr(args, "backend", "nccl")',
            'x = getattr(args, "backend", accel.dist_backend())',
        ),
        ('cmd = ["--backend", "nccl"]', 'cmd = ["--backend", accel.dist_backend()]'),
        (
            'p.add_argument("--backend", choices=("gloo", "nccl"))',
            'p.add_argument("--backend", choices=("gloo", accel.dist_backend()))',
        ),
        ('BACKENDS = ("nccl", "gloo")', 'BACKENDS = (accel.dist_backend(), "gloo")'),
        (
            'def backend_for(d):\n    return "nccl" if d.index else "mpi"\n',
            'def backend_for(d):\n    return accel.dist_backend() if d.index else "mpi"\n',
        ),
        (
            "@dataclass\nclass C(Kwargs):\n    backend: str | None = 'nccl'\n",
            "@dataclass\nclass C(Kwargs):\n    backend: str | None = accel.dist_backend()\n",
        ),
        (
            "class C(BaseModel):\n    dist_backend: str = Field('nccl')\n",
            "class C(BaseModel):\n    dist_backend: str = Field(accel.dist_backend())\n",
        ),
        (
            'strategy = DDPStrategy(process_group_backend="nccl")',
            "strategy = DDPStrategy(process_group_backend=accel.dist_backend())",
        ),
    ],
    manual=[
        'setup(rank, "nccl")',
        'mode = "nccl"',
        'import torch.multiprocessing as mp\nmp.spawn(f, args=(n, "nccl"), nprocs=n)\n',
        'DEVICE = {"nccl": "gpu", "gloo": "host"}[backend]',
        'fast = backend.startswith("nccl")',
        'dist.init_process_group("cuda:nccl,cpu:gloo")',
        'both = backend == "cpu:gloo,cuda:nccl"',
        'cmd = ["--dist_backend=nccl"]',
        'class Backends:\n    NCCL = "nccl"\n    GLOO = "gloo"\n',
        'for kind in ("nccl", "gloo"):\n    pass\n',
        'backend: Literal["nccl", "gloo"] = None',
        'match backend:\n    case "nccl":\n        pass\n',
        # One that can't be ported keeps the others as they are.
        'setup(rank, "nccl")\ntorch.distributed.init_process_group("nccl")\n',
    ],
    notes=['class Comm(str, Enum):\n    NCCL = "nccl"\n'],
    valid=[
        'print("nccl")',
        'raise ValueError("nccl")',
        '"""nccl"""',
        'os.environ["NCCL_DEBUG"] = "INFO"',
        'parser.add_argument("--backend", help="nccl")',
        'backend = "gloo"',
        "import porter_runtime as accel\n"
        'kinds = list(dict.fromkeys(["nccl", "gloo", accel.dist_backend()]))\n',
    ],
)
def nccl_backend(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> Outcome:
    """Name the collective backend of the device that is there: `accel.dist_backend()`.

    It is "nccl" on CUDA, "hccl" on an NPU and "gloo" without an accelerator: a fixed table that
    touches no device, so it can stand in a default. "cpu:gloo,cuda:nccl" becomes
    `accel.dist_backend(cpu=True)`.

    A string is a backend where the function, the name or the key that takes it says so. All
    sites of a file change together, or none: a default of "hccl" beside a comparison with "nccl"
    would take the wrong branch without an error. So a string that is handed to a function of the
    project by position, or looks something up, leaves the whole file to a person.
    """
    if string_value(original) == WITH_CPU:
        cpu = keyword(cst.Arg(cst.Name("True")), "cpu")
        value: cst.BaseExpression = cst.Call(ctx.runtime("dist_backend"), [cpu])
    elif is_nccl(original, ctx):
        value = accelerator_backend(original, ctx)
    else:
        return _inside_a_string(original, ctx)
    role = ctx.role(original)
    if role.kind == "index" and ctx.fragment_role.kind == "annotation":
        return _left("an annotation that admits only these names", "widen it to str", ctx)
    if is_text(role) or (is_nccl(original, ctx) and _is_judged_as_a_whole(role, ctx)):
        return None
    if ctx.within("enum") and role.kind == "assign":
        return Note(
            "a name in the project's own vocabulary, which users and saved files spell; "
            "it is what is made of it that has to follow the device"
        )
    if ctx.within("npu_aware"):
        return Note("this ladder already has a branch for the NPU")
    if role.kind == "assign" and role.name == "NCCL":
        return _left("a name in the project's own vocabulary", "port what is made of it", ctx)
    if means_backend(original, ctx):
        return Ported(value, (GROUP,))
    return _left(_place(role), "pass `accel.dist_backend()` where it means the backend", ctx)


def _is_judged_as_a_whole(role: Role, ctx: Context) -> bool:
    """Whether a rule for what is around it speaks: a comparison, a list of choices.

    Choices that name the device's backend beside "nccl" are ported already.
    """
    if role.kind == "compare":
        return True
    if role.kind != "element" or role.outer is None:
        return False
    if role.outer.kind == "compare":
        return True
    around = ctx.stack[-2] if len(ctx.stack) > 1 else None
    return isinstance(around, cst.List) and (
        is_choices(role.outer)
        or any(is_call_of(e.value, "dist_backend", ctx) for e in around.elements)
    )


def _inside_a_string(node: cst.BaseExpression, ctx: Context) -> Outcome:
    """Report other compound backends and options of a command line."""
    value = (string_value(node) or "").lower()
    if not _PART.search(value) or is_text(ctx.role(node)):
        return None
    return _left(
        f"inside {value!r}",
        "build the text with `accel.dist_backend()`, or with `accel.dist_backend(cpu=True)` where "
        "the CPU's backend is named too",
        ctx,
    )


def _place(role: Role) -> str:
    match role.kind:
        case "argument":
            return f"an argument of `{role.callee.removeprefix('?').lstrip('.') or 'a call'}`"
        case "assign" | "default" | "keyword" | "value" | "return":
            return f"the value of `{role.name}`" if role.name else "a value"
        case "key" | "index":
            return "a key that looks something up, and another backend is not among the keys"
        case "element":
            return "an element of a list or tuple"
        case "pattern":
            return "a match pattern, which can't hold a call: turn this case into an if"
    return "a value whose use is not known"


def _left(what: str, advice: str, ctx: Context) -> Manual:
    return Manual(
        f'"nccl" is {what}; on an NPU the backend is "hccl": {advice}',
        groups=(GROUP, *ctx.guards),
    )
