"""Notebooks to port: made from the texts of their cells, and read back."""

from __future__ import annotations

import json
from typing import Any

from porter.model import Finding, Level, Options, Rewrite
from porter.notebooks import rewrite_notebook

OUTPUT = {
    "name": "stdout",
    "output_type": "stream",
    "text": ["tensor([1.], device='cuda:0')\n", "x.cuda()"],
}


def notebook(*sources: str, language: str = "python", as_lists: bool = True, **how: Any) -> bytes:
    """Returns a notebook with a code cell for each source, as Jupyter writes it.

    Args:
        sources: the cells' texts; one that starts with "# markdown" is no code.
        language: of the kernel.
        as_lists: whether a source is a list of lines or one string.
        how: what goes to `json.dumps`.
    """
    cells: list[dict[str, Any]] = []
    for number, source in enumerate(sources):
        written = source.splitlines(keepends=True) if as_lists else source
        if source.startswith("# markdown"):
            cells.append({"cell_type": "markdown", "metadata": {}, "source": written})
        else:
            cell = {"cell_type": "code", "execution_count": number, "id": f"{number:08}"}
            cells.append({**cell, "metadata": {}, "outputs": [OUTPUT], "source": written})
    document = {
        "cells": cells,
        "metadata": {"accelerator": "GPU", "language_info": {"name": language}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    settings = {"indent": 1, "ensure_ascii": False, **how}
    return json.dumps(document, **settings).encode() + b"\n"


def sources(data: bytes) -> list[str]:
    """Returns the texts of the cells."""
    return ["".join(cell["source"]) for cell in json.loads(data)["cells"]]


def port(data: bytes, **options: Any) -> Rewrite:
    """Ports a notebook, once and for all."""
    result = rewrite_notebook(data, options=Options(**options))
    again = rewrite_notebook(result.output, options=Options(**options))
    assert again.output == result.output, "a second run changes it"
    return result


def ported(*cells: str, **how: Any) -> list[str]:
    """Returns the texts of the cells after the port."""
    return sources(port(notebook(*cells, **how)).output)


def left(result: Rewrite) -> list[str]:
    """Returns `cell N:line:column CODE` of what is left to a person."""
    return [f"{f.place} {f.code}" for f in result.findings if f.level is Level.MANUAL]


def codes(findings: tuple[Finding, ...]) -> list[str]:
    """Returns the codes of findings."""
    return [finding.code for finding in findings]
