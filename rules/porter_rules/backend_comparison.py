"""Comparisons of a backend's name with "nccl"."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Note, Outcome, Ported, rule
from porter_rules.availability import is_call_of, is_known_available, only_with_accelerator
from porter_rules.backend_names import GROUP, accelerator_backend, is_nccl
from porter_rules.nodes import string_value

_Container = cst.List | cst.Tuple | cst.Set


@rule(
    "PTR510",
    on=(cst.Comparison, cst.BooleanOperation),
    needs=("nccl", "NCCL"),
    rewrites=[
        (
            'if dist.get_backend() == "nccl":\n    pass\n',
            "if accel.is_available() and dist.get_backend() == accel.dist_backend():\n    pass\n",
        ),
        (
            "import torch.distributed as dist\nis_nccl = group == dist.Backend.NCCL\n",
            "import torch.distributed as dist\n"
            "is_nccl = accel.is_available() and group == accel.dist_backend()\n",
        ),
        (
            'if "nccl" != args.backend:\n    pass\n',
            "if not accel.is_available() or accel.dist_backend() != args.backend:\n    pass\n",
        ),
        (
            'ok = torch.cuda.is_available() and backend == "nccl"',
            "ok = accel.is_available() and backend == accel.dist_backend()",
        ),
        (
            'ok = size > 1 and backend == "nccl"',
            "ok = size > 1 and accel.is_available() and backend == accel.dist_backend()",
        ),
        (
            'ok = size > 1 and backend == "nccl" and fast',
            "ok = size > 1 and (accel.is_available() and backend == accel.dist_backend()) and fast",
        ),
        (
            'if not (backend == "nccl"):\n    pass\n',
            "if not (accel.is_available() and backend == accel.dist_backend()):\n    pass\n",
        ),
        (
            # The `if` may as well hold on the CPU only.
            'if not torch.cuda.is_available() and x:\n    fast = backend.lower() == "nccl"\n',
            "if not accel.is_available() and x:\n"
            "    fast = accel.is_available() and backend.lower() == accel.dist_backend()\n",
        ),
        (
            'loud = backend.upper() == "NCCL"',
            "loud = accel.is_available() and backend.upper() == accel.dist_backend().upper()",
        ),
        (
            'assert backend in ("nccl", "gloo")',
            'assert backend in (accel.dist_backend(), "gloo")',
        ),
        (
            'bad = backend not in ["nccl"]',
            "bad = not accel.is_available() or backend not in [accel.dist_backend()]",
        ),
        (
            'fast = backend in ("nccl", "mpi")',
            'fast = backend in (accel.dist_backend() if accel.is_available() else "nccl", "mpi")',
        ),
        (
            'fast = "nccl" in dist.get_backend()',
            "fast = accel.is_available() and accel.dist_backend() in dist.get_backend()",
        ),
    ],
    manual=[
        'same = a == b == "nccl"',
        'found = "nccl" in line',
        'same = backend is "nccl"',
        'found = backend in "nccl"',
        'if backend == "nccl":\n    setup(rank, "nccl")\n',
    ],
    notes=[
        'known = backend in ("nccl", "hccl")',
        'if backend == "hccl":\n    pass\nelif backend == "nccl":\n    pass\n',
    ],
    valid=['x = backend == "gloo"', 'x = backend in ("gloo", "mpi")'],
)
def backend_comparison(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> Outcome:
    """Compare with the backend of the device that is there: `accel.dist_backend()`.

    `backend == "nccl"` means that collectives run on the accelerator. Without one the shim names
    "gloo", and a run over gloo must not take that branch: so `accel.is_available()` is asked too,
    unless it is known already. A membership test that admits "gloo" anyway only needs the name,
    and one that admits others keeps "nccl" where there is no accelerator. On CUDA each answers as
    before.

    A ladder, or a list, that knows "hccl" already is left.
    """
    if isinstance(original, cst.BooleanOperation):
        assert isinstance(updated, cst.BooleanOperation)
        return _one_chain(original, updated, ctx)
    assert isinstance(original, cst.Comparison)
    assert isinstance(updated, cst.Comparison)
    target = original.comparisons[0]
    if not any(is_nccl(v, ctx) or _holds_nccl(v, ctx) for v in _sides(original)):
        return None
    if len(original.comparisons) > 1 or isinstance(target.operator, cst.Is | cst.IsNot):
        return _left('"nccl" in a chain of comparisons, or with `is`', ctx)
    if ctx.within("npu_aware"):
        return Note("this ladder already has a branch for the NPU's backend")
    negative = isinstance(target.operator, cst.NotEqual | cst.NotIn)
    if isinstance(target.operator, cst.In | cst.NotIn):
        return _membership(original, updated, ctx, negative)
    return _on_accelerator(_replaced(original, updated, ctx), ctx, negative)


def _membership(
    original: cst.Comparison, updated: cst.Comparison, ctx: Context, negative: bool
) -> Outcome:
    container = original.comparisons[0].comparator
    if is_nccl(original.left, ctx):
        if "backend" not in cst.Module([]).code_for_node(container).lower():
            return _left('"nccl" is searched in something that may not be a backend', ctx)
        return _on_accelerator(_replaced(original, updated, ctx), ctx, negative)
    if not isinstance(container, _Container):
        return _left('the backend is searched in the text "nccl"', ctx)
    names = {string_value(e.value) for e in container.elements}
    if "hccl" in names:
        return Note("this list names the NPU's backend already")
    if "gloo" in names:
        return Ported(_replaced(original, updated, ctx), (GROUP,))
    if len(container.elements) == 1:
        return _on_accelerator(_replaced(original, updated, ctx), ctx, negative)
    # Without an accelerator "gloo" must not come in, while the other names go on to count.
    return Ported(_replaced(original, updated, ctx, keep=True), (GROUP,))


def _sides(node: cst.Comparison) -> list[cst.BaseExpression]:
    return [node.left, *(t.comparator for t in node.comparisons)]


def _holds_nccl(node: cst.BaseExpression, ctx: Context) -> bool:
    return isinstance(node, _Container) and any(is_nccl(e.value, ctx) for e in node.elements)


def _replaced(
    original: cst.Comparison, updated: cst.Comparison, ctx: Context, *, keep: bool = False
) -> cst.Comparison:
    """Return the comparison with the device's backend wherever "nccl" stands.

    With `keep` "nccl" stays the name without an accelerator.
    """
    before, after = original.comparisons[0], updated.comparisons[0]
    right = _ported(before.comparator, after.comparator, ctx, keep)
    return updated.with_changes(
        left=_ported(original.left, updated.left, ctx, keep),
        comparisons=[after.with_changes(comparator=right)],
    )


def _ported(
    before: cst.BaseExpression, after: cst.BaseExpression, ctx: Context, keep: bool
) -> cst.BaseExpression:
    if is_nccl(before, ctx):
        backend = accelerator_backend(before, ctx)
        if keep:
            return cst.IfExp(test=ctx.runtime_call("is_available"), body=backend, orelse=after)
        return backend
    if not isinstance(before, _Container) or not isinstance(after, _Container):
        return after
    elements = [
        new.with_changes(value=_ported(old.value, new.value, ctx, keep))
        for old, new in zip(before.elements, after.elements, strict=True)
    ]
    return after.with_changes(elements=elements)


def _on_accelerator(comparison: cst.Comparison, ctx: Context, negative: bool) -> Outcome:
    """Return the comparison for what holds on an accelerator only, or for its negation."""
    if is_known_available(ctx):
        return Ported(comparison, (GROUP,))
    asked = only_with_accelerator(comparison, ctx, negative=negative)
    return Ported(asked, (GROUP,))


def _left(what: str, ctx: Context) -> Manual:
    return Manual(
        f'{what}: on an NPU the backend is "hccl", so write the test with '
        "`accel.dist_backend()` by hand",
        groups=(GROUP, *ctx.guards),
    )


def _one_chain(
    original: cst.BooleanOperation, updated: cst.BooleanOperation, ctx: Context
) -> Outcome:
    """Return `a and accel.is_available() and b` for `a and (accel.is_available() and b)`.

    Where this is a part of a longer chain itself, the parentheses stay.
    """
    match updated:
        case cst.BooleanOperation(
            operator=cst.And(),
            right=cst.BooleanOperation(left=asked, operator=cst.And() as joint, right=test),
        ):
            pass
        case _:
            return None
    ported = isinstance(original.right, cst.Comparison) and not original.right.lpar
    if not ported or isinstance(ctx.parent, cst.BooleanOperation):
        return None
    if not is_call_of(asked, "is_available", ctx):
        return None
    first = updated.with_changes(right=asked, lpar=[], rpar=[])
    return Ported(updated.with_changes(left=first, operator=joint, right=test), (GROUP,))
