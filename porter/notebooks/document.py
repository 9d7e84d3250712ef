"""A notebook's JSON text: where in it the characters of each cell's source stand.

The format: https://nbformat.readthedocs.io/en/latest/format_description.html (version 4). A source
is a string, or a list of strings that are joined; by custom, each but the last is one line.
"""

from __future__ import annotations

import codecs
import itertools
import json
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from porter.notebooks.lines import Lines
from porter.notebooks.reader import Reader

_CHARACTER = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]", re.S
)
"""What one character of a string may look like in JSON; two surrogates are one character."""
_PYTHON = re.compile(r"i?python", re.IGNORECASE)


class NotebookError(Exception):
    """The text is not a notebook that can be read; the message says what to do."""


@dataclass(frozen=True)
class Item:
    """A string in the JSON text: `value` is what the text from `start` to `end` stands for."""

    start: int
    end: int
    value: str


@dataclass(frozen=True)
class Cell:
    """A code cell.

    Attributes:
        number: its place among all cells, from 1.
        items: the strings that make its source.
        in_list: whether they stand in a list.
        language: its own language where it has one, which some front ends allow.
    """

    number: int
    items: tuple[Item, ...]
    in_list: bool
    language: str

    @cached_property
    def source(self) -> str:
        """The cell's text."""
        return "".join(item.value for item in self.items)

    @property
    def has_line_items(self) -> bool:
        """Whether each string of a list is one line, as notebooks are usually written."""
        lines = self.source.splitlines(keepends=True)
        return self.in_list and [item.value for item in self.items] == lines


class Document:
    """The text of a notebook, and its code cells.

    Offsets are into `text`, in characters.
    """

    def __init__(self, data: bytes) -> None:
        """Find the cells.

        Raises:
            NotebookError: this is no notebook of the format's version 4.
        """
        self.bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
        self.cells: list[Cell] = []
        self._language = ""
        self._has_cells = False
        self._extents: dict[int, list[tuple[int, int]]] = {}
        try:
            self.text = data[len(self.bom) :].decode("utf-8")
            self._reader = Reader(self.text)
            self._reader.document(self._top)
        except UnicodeDecodeError as error:
            raise NotebookError(f"not UTF-8, as notebooks have to be: {error}") from error
        except json.JSONDecodeError as error:
            raise NotebookError(f"not JSON, as notebooks have to be: {error}") from error
        except RecursionError as error:
            raise NotebookError("nested too deeply to be a notebook") from error
        if not self._has_cells:
            raise NotebookError(
                "no notebook of format 4: convert it with `jupyter nbconvert --to notebook`"
            )

    @property
    def is_python(self) -> bool:
        """Whether the notebook is for a kernel that runs Python, as far as it says."""
        return not self._language or _PYTHON.match(self._language) is not None

    @cached_property
    def glue(self) -> str:
        """What stands between two strings of a source, their quotes included."""
        lists = [cell.items for cell in self.cells if cell.in_list and cell.items]
        for items in lists:
            if len(items) > 1:
                return self.text[items[0].end : items[1].start]
        for items in lists:
            first = items[0].start - 1
            blank = self.text[self.text.rindex("[", 0, first) + 1 : first]
            return f'",{blank or " "}"'
        return '", "'

    @cached_property
    def lines(self) -> Lines:
        """The lines of the text."""
        return Lines(self.text)

    def extents(self, cell: Cell) -> list[tuple[int, int]]:
        """Return where each character of a cell's source starts and ends."""
        known = self._extents.get(cell.number)
        if known is not None:
            return known
        found: list[tuple[int, int]] = []
        for item in cell.items:
            if item.end - item.start == len(item.value):
                found += ((at, at + 1) for at in range(item.start, item.end))
            else:
                characters = _CHARACTER.finditer(self.text, item.start, item.end)
                found += (match.span() for match in characters)
        self._extents[cell.number] = found
        return found

    def _top(self, key: str, at: int) -> int:
        if key == "cells":
            self.cells, self._has_cells = [], True  # of a key that is there twice, the last counts
            numbers = itertools.count(1)
            return self._reader.elements(at, lambda start: self._cell(next(numbers), start))
        value, end = self._reader.value(at)
        if key == "metadata" and isinstance(value, dict):
            kernel, language = (_table(value, k) for k in ("kernelspec", "language_info"))
            self._language = str(language.get("name") or kernel.get("language") or "")
        return end

    def _cell(self, number: int, at: int) -> int:
        kind: object = None
        language = ""
        items: list[Item] = []
        in_list = False

        def member(key: str, at: int) -> int:
            nonlocal kind, language, items, in_list
            if key == "source":
                items, in_list = [], self.text.startswith("[", at)
                return self._reader.elements(at, string) if in_list else string(at)
            value, end = self._reader.value(at)
            if key == "cell_type":
                kind = value
            elif key == "metadata" and isinstance(value, dict):
                language = str(_table(value, "vscode").get("languageId", ""))
            return end

        def string(at: int) -> int:
            value, end = self._reader.value(at)
            if not isinstance(value, str):
                raise json.JSONDecodeError("Expecting a string", self.text, at)
            items.append(Item(at + 1, end - 1, value))
            return end

        end = self._reader.members(at, member)
        if kind == "code":
            self.cells.append(Cell(number, tuple(items), in_list, language))
        return end


def _table(value: dict[str, Any], key: str) -> dict[str, Any]:
    inner = value.get(key)
    return inner if isinstance(inner, dict) else {}
