"""The entry point of `porter` and `python -m porter`."""

from __future__ import annotations

import io
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # the hook's start-up counts: at run time not even `typing` is imported
    from collections.abc import Sequence
    from typing import NoReturn

NOT_DONE = 2
"""The exit code after a usage error, and where something could not be processed."""
INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command line and exit with its code."""
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["check"]:
        from porter.check.dismiss import dismiss

        if dismiss(given[1:]):
            sys.exit(0)
    import click

    from porter.cli import cli
    from porter.errors import Refused

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a locale without the character
    try:
        code = cli.main(arguments, prog_name="porter", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except Refused as error:
        click.echo(f"Error: {error}", err=True)
        code = NOT_DONE
    except (click.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    sys.exit(code or 0)


if __name__ == "__main__":
    # With `python -m` the working directory comes first: a repository's click.py isn't to be run.
    if not getattr(sys.flags, "safe_path", False):
        del sys.path[0]
    main()
