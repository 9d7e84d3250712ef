"""What the tests of notebooks share with those of the command line."""

from __future__ import annotations

from tests.check.conftest import flagged, report
from tests.cli.conftest import folder, porter, python, repository

__all__ = ["flagged", "folder", "porter", "python", "report", "repository"]
