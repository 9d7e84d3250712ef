"""The commands of porter's command line, a module for each subject."""

from __future__ import annotations


def examples(*lines: str) -> str:
    """Return the end of a command's help: lines that click is to leave as they are."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
