"""What the engine's tests share."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import pytest

from porter.engine import rewrite_source

Port = Callable[[str], str]


@pytest.fixture
def port() -> Port:
    """Return a function that ports a dedented module and checks that a second run is silent."""

    def run(text: str) -> str:
        before = textwrap.dedent(text).lstrip("\n")
        result = rewrite_source(before.encode())
        assert not result.failed, result.findings
        again = rewrite_source(result.output)
        assert again.output == result.output, "a second run changes the result"
        return result.output.decode()

    return run
