"""The command line: one command each in `porter.commands`."""

from __future__ import annotations

import os
import sys

import click

import porter
from porter.commands import examples
from porter.commands.check import check
from porter.commands.rewrite import rewrite
from porter.commands.rules import explain, rules
from porter.commands.vendor import vendor

PIPE_CLOSED = 141
"""The exit code when nobody reads on, as if the signal for it had ended us."""


class _Porter(click.Group):
    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # What is still buffered has nowhere to go; Python would complain of it at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise click.exceptions.Exit(PIPE_CLOSED) from None


@click.group(
    cls=_Porter,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=examples(
        "porter rewrite --dry-run src/     show the port as a diff",
        "porter rewrite src/               port in place",
        "porter check                      what is staged and hard-coded for CUDA",
        "porter explain PTR101             what a rule does, and why",
    )
    + "\n\nExit codes: 0 done; 1 findings of check; 2 usage error, or something could not be "
    "processed.",
)
@click.version_option(porter.__version__, prog_name="porter")
def cli() -> None:
    """Port PyTorch code that is hard-coded for CUDA to Ascend NPU, CUDA and CPU."""


for command in (rewrite, check, rules, explain, vendor):
    cli.add_command(command)
