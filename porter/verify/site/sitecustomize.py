"""Starts the watching of a verified command. Python runs this file when it starts."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys


def _run_the_hidden_one() -> None:
    """Run the sitecustomize that this file hides, as Python would have: the user's or a device's.

    It may do the same as this one; so it is not to find this folder again.
    """
    here = os.path.dirname(os.path.abspath(__file__))
    kept = sys.path[:]
    sys.path[:] = [entry for entry in kept if os.path.abspath(entry) != here]
    try:
        spec = importlib.machinery.PathFinder.find_spec(__name__, sys.path)
        if spec is not None and spec.loader is not None:
            module = importlib.util.module_from_spec(spec)
            sys.modules[__name__] = module  # what the program finds under this name
            spec.loader.exec_module(module)
    finally:
        added = [entry for entry in sys.path if entry not in kept]
        sys.path[:] = added + kept


try:
    _run_the_hidden_one()
finally:
    import porter_watch  # type: ignore[import-not-found]

    porter_watch.start()
