"""`is_nccl_available()`, and the choice between "nccl" and "gloo"."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, Ported, rule
from porter_rules.availability import (
    asks_availability,
    is_call_of,
    is_known_available,
    only_with_accelerator,
)
from porter_rules.backend_names import GROUP, accelerator_backend, is_nccl
from porter_rules.nodes import string_value

_QUESTION = "torch.distributed.is_nccl_available"


@rule(
    "PTR502",
    on=(cst.IfExp, cst.Call),
    needs=("nccl", "NCCL"),
    rewrites=[
        (
            'dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")',
            "dist.init_process_group(accel.dist_backend())",
        ),
        (
            'setup(rank, "gloo" if not torch.cuda.is_available() else "nccl")',
            "setup(rank, accel.dist_backend())",
        ),
        (
            "import torch.distributed as dist\n"
            'dist.init_process_group(backend="nccl" if dist.is_nccl_available() else "gloo")\n',
            "import torch.distributed as dist\n"
            "dist.init_process_group(backend=accel.dist_backend() "
            'if dist.is_backend_available(accel.dist_backend()) else "gloo")\n',
        ),
        (
            'kind = "nccl" if use_gpu else "gloo"',
            'kind = accel.dist_backend() if use_gpu else "gloo"',
        ),
        (
            "if torch.cuda.is_available() and torch.distributed.is_nccl_available():\n    pass\n",
            "if accel.is_available() and "
            "torch.distributed.is_backend_available(accel.dist_backend()):\n    pass\n",
        ),
        (
            "import torch.distributed as dist\n"
            "if not dist.is_nccl_available():\n    raise SystemExit\n",
            "import torch.distributed as dist\n"
            "if not (accel.is_available() and "
            "dist.is_backend_available(accel.dist_backend())):\n    raise SystemExit\n",
        ),
    ],
    manual=[
        "from torch.distributed import is_nccl_available\n"
        'backend = "nccl" if is_nccl_available() else "gloo"\n',
        'from project import dist\nbackend = "nccl" if dist.is_nccl_available() else "gloo"\n',
    ],
    valid=['kind = "mpi" if torch.cuda.is_available() else "gloo"'],
)
def nccl_available(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> Outcome:
    """Choose the backend by what the device that is there can use.

    `"nccl" if torch.cuda.is_available() else "gloo"` is what `accel.dist_backend()` answers.
    `is_nccl_available()` asks how torch was built: on an NPU it is False, and a guard that is
    left picks gloo, which carries no NPU tensors. It becomes the same question about the device's
    own backend; without an accelerator the answer stays False. On CUDA
    `is_backend_available("nccl")` is `is_nccl_available()`.

    The name imported by itself has no module to ask, and one of a project's own may answer
    anything: call it through torch.distributed.
    """
    if isinstance(original, cst.IfExp):
        assert isinstance(updated, cst.IfExp)
        return _choice(original, updated, ctx)
    assert isinstance(original, cst.Call)
    assert isinstance(updated, cst.Call)
    callee = ctx.callee(original)
    if callee != _QUESTION and callee.rpartition(".")[2] == "is_nccl_available":
        return Manual(
            "`is_nccl_available` of something that may not be torch.distributed: if its answer is "
            "torch's, which is False on an NPU, ask "
            "`torch.distributed.is_backend_available(accel.dist_backend())`",
            groups=(GROUP, *ctx.guards),
        )
    if callee != _QUESTION:
        return None
    question = _ported_question(updated, ctx)
    if question is None:
        return Manual(
            "`is_nccl_available` is False on an NPU, and is imported without its module: ask "
            "`torch.distributed.is_backend_available(accel.dist_backend())`",
            groups=(GROUP, *ctx.guards),
        )
    if is_known_available(ctx):
        return Ported(question, (GROUP,))
    return Ported(only_with_accelerator(question, ctx), (GROUP,))


def _choice(original: cst.IfExp, updated: cst.IfExp, ctx: Context) -> Outcome:
    """Port `"nccl" if <test> else "gloo"`, or the same turned round."""
    test, negated = original.test, False
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        test, negated = test.expression, True
    branch, other = ("orelse", "body") if negated else ("body", "orelse")
    chosen = getattr(original, branch)
    if string_value(getattr(original, other)) != "gloo":
        return None
    backend = accelerator_backend(chosen, ctx)
    is_port = is_call_of(chosen, "dist_backend", ctx)
    if asks_availability(test, ctx) and (is_port or is_nccl(chosen, ctx)):
        return Ported(backend, (GROUP,))
    if not is_nccl(chosen, ctx):
        return None
    ported = updated.with_changes(**{branch: backend})
    if isinstance(test, cst.Call) and ctx.qualified(test.func) == _QUESTION:
        question = _ported_question(test, ctx)
        if question is None:
            return None
        # "gloo" is right without an accelerator whatever the answer is.
        asked = cst.UnaryOperation(cst.Not(), question) if negated else question
        ported = ported.with_changes(test=asked)
    return Ported(ported, (GROUP,))


def _ported_question(call: cst.Call, ctx: Context) -> cst.Call | None:
    """Return the question for the device's backend, None where the module has no name here."""
    if not isinstance(call.func, cst.Attribute):
        return None
    func = call.func.with_changes(attr=cst.Name("is_backend_available"))
    return call.with_changes(func=func, args=[cst.Arg(ctx.runtime_call("dist_backend"))])
