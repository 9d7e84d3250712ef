"""`porter vendor`: a copy of the shim inside a package, for projects without new dependencies."""

from __future__ import annotations

import os
from pathlib import Path

import click

from porter.commands import examples
from porter.errors import Refused
from porter.model import Shim


@click.command(
    short_help="Copy the shim into a package.",
    epilog=examples("porter vendor src/mypackage", "porter vendor src/mypackage --update"),
)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--update", is_flag=True, help="Replace a copy that an older porter made.")
@click.option("--force", is_flag=True, help="With --update: drop edits to the copy.")
def vendor(folder: Path, update: bool, force: bool) -> None:
    """Copy the runtime shim into the package DIR, as a leaf package that needs torch alone.

    `porter rewrite --vendor DIR` does this too, and makes the ported code import the copy.
    """
    from porter import vendor as shim

    if force and not update:
        raise Refused("--force goes with --update")
    statement = shim_in(folder).statement("accel")
    try:
        there = shim.find(folder)
        copy = shim.update(folder, force) if update else shim.vendor(folder)
    except (shim.VendorError, OSError) as error:
        raise Refused(_reason(error)) from error
    state = "copied to" if there is None else "updated in" if there != copy else "is in"
    click.echo(f"porter_runtime {copy.version} {state} {copy.folder}: {statement}")
    if copy.edited:
        click.echo(f"note: edited since: {', '.join(copy.edited)}", err=True)
    elif copy.outdated:
        click.echo("note: it is not this porter's; --update replaces it", err=True)


def shim_in(folder: Path) -> Shim:
    """Return how code imports the copy in the package `folder`, whether or not it is there yet.

    Raises:
        Refused: the folder is no package, or holds something else under the copy's name.
    """
    from porter import vendor as shim
    from porter.vendored import NAME

    try:
        shim.find(folder)
    except (shim.VendorError, OSError) as error:
        raise Refused(_reason(error)) from error
    names: list[str] = []
    package = Path(os.path.realpath(folder))
    while (package / "__init__.py").is_file():
        names.insert(0, package.name)
        package = package.parent
    if not names:
        raise Refused(f"{folder} is no package: it has no __init__.py to import the shim through")
    wrong = [name for name in names if not name.isidentifier()]
    if wrong:
        raise Refused(f"{folder} can't be imported: {wrong[0]!r} is no identifier")
    return Shim(module=NAME, package=".".join(names))


def copy_shim(folder: Path | None) -> None:
    """Copy the shim into the package, if there is one; a copy that is there stays as it is.

    Raises:
        Refused: it can't be copied.
    """
    if folder is None:
        return
    from porter import vendor as shim

    try:
        copy = shim.vendor(folder)
    except (shim.VendorError, OSError) as error:
        raise Refused(_reason(error)) from error
    if copy.outdated:
        click.echo(
            f"note: {copy.folder} is not this porter's shim: porter vendor --update", err=True
        )


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"the shim can't be copied: {error}"
    return str(error)
