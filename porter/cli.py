"""The command line: one command each in `porter.commands`."""

from __future__ import annotations

import click

import porter
from porter.commands.rewrite import rewrite
from porter.commands.rules import explain, rules
from porter.commands.vendor import vendor


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done; 2 usage error, or something could not be processed.",
)
@click.version_option(porter.__version__, prog_name="porter")
def cli() -> None:
    """Port PyTorch code that is hard-coded for CUDA to Ascend NPU, CUDA and CPU.

    \b
    Examples:
      porter rewrite --dry-run src/     show the port as a diff
      porter rewrite src/               port in place
      porter explain PTR101             what a rule does, and why
    """


for command in (rewrite, rules, explain, vendor):
    cli.add_command(command)
