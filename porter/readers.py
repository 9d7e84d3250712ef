"""Who reads which kind of file: the one place from which files reach the engine and its kin.

The hook's first look asks here, so at run time nothing is imported that Python hasn't loaded.
"""

from __future__ import annotations

from porter import kinds
from porter.engine import prefilter as python

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from porter.model import Only, Options, Rewrite


def may_have_sites(data: bytes, kind: str, in_bulk: bool = False) -> bool:
    """Whether a file of a kind holds any word that a site needs; pragmas are not among them.

    `in_bulk` is as in `porter.engine.may_have_sites`.
    """
    if kind == kinds.PYTHON:
        return python.may_have_sites(data, in_bulk)
    if kind == kinds.NOTEBOOK:
        from porter.notebooks import prefilter as notebooks

        return notebooks.may_have_sites(data)
    from porter.configs import prefilter as configs

    return not kinds.is_data(kind, len(data)) and configs.may_have_sites(data, kind)


def rewrite(
    data: bytes, *, kind: str, name: str, options: Options, only: Only | None = None
) -> Rewrite:
    """Port the bytes of one file, or find what there is to say about it.

    Args:
        data: the file's bytes.
        kind: one of `porter.kinds`.
        name: the file's path in its repository, with forward slashes: the place of a file of
            configuration may tell what it configures.
        options: rules to run, and how the shim is imported.
        only: tells which findings are to be rewritten or reported; None means all.

    Returns:
        As `porter.engine.rewrite_source`, whatever the file holds.
    """
    if kind == kinds.PYTHON:
        from porter import engine

        return engine.rewrite_source(data, options=options, only=only)
    if kind == kinds.NOTEBOOK:
        from porter.notebooks import rewrite_notebook

        return rewrite_notebook(data, options=options, only=only)
    from porter.configs import rewrite_config

    return rewrite_config(data, name=name, options=options, only=only)


def warm_up(examples: Mapping[str, str], options: Options) -> None:
    """Import and set up what reads files, for workers to inherit.

    Args:
        examples: of each kind that is going to be read, the name of a file.
        options: as they will be given to `rewrite`.
    """
    import gc

    for kind, name in examples.items():
        rewrite(b"", kind=kind, name=name, options=options)
    gc.freeze()  # what is imported by now stays shared with forked workers
