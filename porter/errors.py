"""The error that ends a command before it has done anything."""

from __future__ import annotations


class Refused(Exception):
    """A command can't be carried out as given; the text says why, and what to do."""
