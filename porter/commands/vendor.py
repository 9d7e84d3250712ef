"""placeholder until vendor lands."""

from __future__ import annotations

import click


@click.command()
@click.argument("folder")
def vendor(folder: str) -> None:
    """Copy."""
