"""`porter doctor`: what this machine has for training, what it lacks, and what to do about it."""

from __future__ import annotations

import os
import shutil

import click

from porter.commands import examples

_WIDEST = 110


@click.command(
    short_help="Say what this machine has to train on, and what it lacks.",
    epilog=examples(
        "porter doctor                  every problem with what to do about it",
        "porter doctor --json           the same for programs",
        "porter doctor --timeout 300    where torch is read from a slow disk",
    )
    + "\n\nExit codes: 0 no problem (to have no accelerator is none); 1 problems; 2 usage error.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="S",
    default=60,
    show_default=True,
    help="Seconds that each program that is asked may take: npu-smi, nvidia-smi, torch.",
)
def doctor(as_json: bool, timeout: float) -> int:
    """Look at the drivers, CANN, torch, torch_npu and the environment, and change nothing.

    It says which device ported code would use and why. torch and torch_npu are imported in a
    process of their own, and four numbers are added on the first device.
    """
    from porter.doctor import examine, report

    sections = examine(os.environ, timeout)
    if as_json:
        click.echo(report.as_json(sections))
    else:
        width = min(shutil.get_terminal_size((_WIDEST, 24)).columns, _WIDEST)
        click.echo(report.as_text(sections, width))
    return 1 if report.problems(sections) else 0
