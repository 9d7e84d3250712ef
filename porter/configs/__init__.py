"""Files of configuration: YAML, JSON, TOML, INI, shell, Makefile, Dockerfile, requirements.

    prefilter -> read (subjects with their places) -> rules -> pragmas -> splice -> guard

Importing this package costs nothing; `rewrite_config` is what it offers.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # at run time not even `typing` is imported: the hook's start-up counts
    from porter.model import Only, Options, Rewrite

__all__ = ["rewrite_config"]


def rewrite_config(
    data: bytes, *, name: str, options: Options, only: Only | None = None
) -> Rewrite:
    """Find what a file of configuration says of CUDA (see `porter.configs.pipeline`)."""
    from porter.configs import pipeline

    return pipeline.rewrite_config(data, name=name, options=options, only=only)
