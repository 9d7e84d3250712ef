"""The command line: one command each in `porter.commands`."""

from __future__ import annotations

import importlib
import os
import sys

import click

import porter
from porter.commands import examples

_COMMANDS = {
    "rewrite": "rewrite",
    "check": "check",
    "report": "report",
    "rules": "rules",
    "explain": "rules",
    "vendor": "vendor",
    "verify": "verify",
    "doctor": "doctor",
}
"""The modules of the commands in `porter.commands`; one is imported when it is asked for."""

PIPE_CLOSED = 141
"""The exit code when nobody reads on, as if the signal for it had ended us."""


class _Porter(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = _COMMANDS.get(cmd_name)
        if module is None:
            return None
        command = getattr(importlib.import_module(f"porter.commands.{module}"), cmd_name)
        assert isinstance(command, click.Command)
        return command

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
