"""What the tests of configuration share with those of the command line."""

from __future__ import annotations

from tests.cli.conftest import folder, porter, python, repository

__all__ = ["folder", "porter", "python", "repository"]
