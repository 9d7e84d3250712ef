"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., object])


def selection(command: Command) -> Command:
    """Give a command the options that say which rules, which files and how many processes."""
    for option in (
        click.option(
            "--jobs",
            type=click.IntRange(min=1),
            metavar="N",
            help="Processes to work with; by default as many as there are CPUs, one for little "
            "work.",
        ),
        click.option(
            "--exclude",
            multiple=True,
            metavar="GLOB",
            help="Leave out what matches, as a line in .gitignore would; may be given several "
            "times.",
        ),
        click.option("--ignore", multiple=True, metavar="CODES", help="Not these rules."),
        click.option(
            "--select",
            multiple=True,
            metavar="CODES",
            help="Only rules whose code begins so; commas separate several.",
        ),
    ):
        command = option(command)
    return command


def configuration(command: Command) -> Command:
    """Give a command the option that lets files of configuration be rewritten."""
    return click.option(
        "--configs",
        is_flag=True,
        help="Rewrite configuration too (YAML, JSON, TOML, shell, ...), where that is safe.",
    )(command)
