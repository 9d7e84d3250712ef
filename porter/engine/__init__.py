"""The engine: locate sites with `ast`, rewrite them with libcst, splice, guard.

Importing this package costs nothing; `rewrite_source` and `may_have_sites` are what it offers.
"""

from __future__ import annotations

from porter.engine.prefilter import may_have_sites

TYPE_CHECKING = False
if TYPE_CHECKING:  # at run time not even `typing` is imported: the hook's start-up counts
    from collections.abc import Callable

    from porter.model import Finding, Options, Rewrite

__all__ = ["may_have_sites", "rewrite_source"]


def rewrite_source(
    data: bytes,
    *,
    options: Options | None = None,
    only: Callable[[Finding], bool] | None = None,
) -> Rewrite:
    """Port the bytes of one Python file (see `porter.engine.pipeline.rewrite_source`)."""
    from porter.engine import pipeline  # libcst, which a file without a site has no need of

    return pipeline.rewrite_source(data, options=options, only=only)
