"""The choices of an option for the backend."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Note, Outcome, Ported, rule
from porter_rules.backend_names import GROUP, is_choices, is_nccl
from porter_rules.nodes import string_value


@rule(
    "PTR511",
    on=cst.List,
    needs=("nccl", "NCCL"),
    rewrites=[
        (
            'p.add_argument("--backend", default="nccl", choices=["nccl", "gloo"])',
            'p.add_argument("--backend", default=accel.dist_backend(), '
            'choices=list(dict.fromkeys(["nccl", "gloo", accel.dist_backend()])))',
        ),
        (
            'kind = click.Choice(["nccl", "gloo"])',
            'kind = click.Choice(list(dict.fromkeys(["nccl", "gloo", accel.dist_backend()])))',
        ),
        (
            'meta = {"choices": ["nccl", "mpi"]}',
            'meta = {"choices": list(dict.fromkeys(["nccl", "mpi", accel.dist_backend()]))}',
        ),
        (
            'f(choices=(\n    ["nccl", "mpi"]  # for collectives\n))',
            "f(choices=(\n    "
            'list(dict.fromkeys(["nccl", "mpi", accel.dist_backend()]))  # for collectives\n))',
        ),
        (
            'option(\n    "--backend",\n    choices=[\n        "nccl",\n        "gloo",\n    ],\n)',
            'option(\n    "--backend",\n    choices=list(dict.fromkeys([\n        "nccl",\n'
            '        "gloo",\n        accel.dist_backend(),\n    ])),\n)',
        ),
    ],
    notes=['p.add_argument("--backend", choices=["nccl", "hccl", "gloo"])'],
    valid=['p.add_argument("--backend", choices=["gloo", "mpi"])'],
)
def backend_choices(original: cst.List, updated: cst.List, ctx: Context) -> Outcome:
    """Admit the backend of the device that is there among an option's choices.

    argparse refuses what is not among the choices, so that an option whose default follows the
    device could not be given by hand. The names that stood there stay; on CUDA the list is equal
    to the old one, in the same order. In a tuple the name is replaced.
    """
    values = [e.value for e in original.elements]
    if not is_choices(ctx.role(original)) or not any(is_nccl(v, ctx) for v in values):
        return None
    if any(string_value(v) == "hccl" for v in values):
        return Note("these choices name the NPU's backend already")
    wider = _appended(updated, ctx.runtime_call("dist_backend"))
    without_doubles = cst.Call(
        cst.Attribute(cst.Name("dict"), cst.Name("fromkeys")), [cst.Arg(wider)]
    )
    return Ported(cst.Call(cst.Name("list"), [cst.Arg(without_doubles)]), (GROUP,))


def _appended(items: cst.List, value: cst.BaseExpression) -> cst.List:
    """Return the list with one more element, on a line of its own where each has one."""
    last = items.elements[-1]
    between = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    comma = items.elements[0].comma if len(items.elements) > 1 else between
    added = cst.Element(value, comma=last.comma)
    return items.with_changes(  # the parentheses that it had go around the whole
        elements=[*items.elements[:-1], last.with_changes(comma=comma), added], lpar=[], rpar=[]
    )
