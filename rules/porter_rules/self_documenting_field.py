"""f-string fields that print their own text."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule


@rule(
    "PTR210",
    on=cst.FormattedStringExpression,
    manual=[
        'print(f"{torch.cuda.device_count()=}")',
        'log(f"{x.cuda().sum() = :.2f}")',
        "print(f'{t.is_cuda=} {torch.cuda.device_count()=}')",
    ],
    valid=[
        'print(f"{torch.cuda.device_count()}")',
        "print(f'{cuda=}')",
        'print(f"{torch.version.cuda=}")',
    ],
)
def self_documenting_field(
    original: cst.FormattedStringExpression,
    updated: cst.FormattedStringExpression,
    ctx: Context,
) -> Outcome:
    """Leave f-string fields such as `{torch.cuda.device_count()=}`, which print their own text.

    Porting the expression would change what is printed, on CUDA too. Write the label yourself,
    `{accel.device_count()}` behind a text of your own, or accept the new label.
    """
    if original.equal is None or updated.deep_equals(original):
        return None
    return Manual(
        "a field with `=` prints the text of its expression, which porting would change: write "
        "the label out, as in `count={accel.device_count()}`"
    )
