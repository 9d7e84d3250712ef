"""Runs a notebook as Jupyter does, in a kernel of its own: `execute.py FILE`.

Prints what its cells print; ends with an error where the file is no valid notebook, or a cell
raises.
"""

from __future__ import annotations

import sys

import nbclient
import nbformat


def main(path: str) -> None:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]  # it has no types
    nbformat.validate(notebook)
    nbclient.NotebookClient(notebook, timeout=240, kernel_name="python3").execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.output_type == "stream":
                print(output.text, end="")


if __name__ == "__main__":
    main(sys.argv[1])
