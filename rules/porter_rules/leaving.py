"""Answers that several rules give for what they leave as it is."""

from __future__ import annotations

from porter.rule import Context, Manual, Note, Role

NPU_HANDLED = Note("already portable: this choice has a branch for the NPU")
"""CUDA's branch of a choice that knows the NPU: nothing is to be ported there."""

CUDA_BRANCH = Note(
    "meant for CUDA alone: the branch uses nothing but what other devices don't have, and is "
    "skipped there",
    whole=True,
)
"""A test for CUDA, and its branch, that are both left as they are on purpose."""

BUILDS_CUDA = Note(
    "asks for CUDA in a script that builds CUDA sources, which need nvcc: left, since False is the "
    "right answer elsewhere"
)
"""A question of a build script, which picks CUDAExtension or its sources by the answer."""

REFUSES_CUDA = (
    'asks whether "cuda" was wanted where CUDA is not available; left, since that holds on an NPU '
    "as well; compare with accel.device_type too where the default device has to be refused"
)
"""Why `device == "cuda"` and the test for CUDA's absence that belongs to it are both left."""

FUSED = Note(
    "decides about a fused optimizer, which not every NPU's torch has: there, as on the CPU, the "
    "plain one is taken"
)

QUANTISES = Manual(
    "on a bitsandbytes layer .cuda() is what quantises the weights: see what bitsandbytes offers "
    "for the device that you port to"
)
BESIDE_QUANTISING = Manual(
    "stands where layers of bitsandbytes are moved, which .cuda() quantises: port the test with "
    "that, as far as bitsandbytes runs on the device that you port to"
)


def decides_fused(role: Role) -> bool:
    """Whether a value goes to a variable or argument such as `fused` or `use_fused`."""
    return role.kind in ("assign", "keyword", "default", "return") and "fused" in role.name


def is_quantising(ctx: Context) -> bool:
    """Whether the function, or the code outside of functions, has to do with bitsandbytes."""
    if ctx.within("function"):
        return ctx.within("bitsandbytes")
    return ctx.within("bitsandbytes_module")


def cuda_only(why: str, ctx: Context) -> Manual:
    """Leave what only CUDA has, together with the test for CUDA that it stands under.

    Off CUDA such a line raises, so it must not be reached there. But where the branch also moves
    data to the device, a test that was left would leave the data on the CPU, silently; there the
    test is ported, and the line is for a person to mend.
    """
    return Manual(why, groups=tuple(g for g in ctx.guards if ctx.within(f"moves_nothing:{g}")))
