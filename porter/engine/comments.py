"""Comments inside an expression: a port must not lose one."""

from __future__ import annotations

import tokenize
from io import StringIO


def lost_comment(before: str, after: str) -> bool:
    """Whether the comments of an expression's old text are not those of its new text."""
    if "#" not in before and "#" not in after:
        return False
    try:
        return _comments(before) != _comments(after)
    except (tokenize.TokenError, SyntaxError):
        return True  # no expression any more: its comments can't be found


def _comments(text: str) -> list[str]:
    """Return the comments of an expression, in order."""
    tokens = tokenize.generate_tokens(StringIO(f"({text}\n)").readline)
    return [t.string for t in tokens if t.type == tokenize.COMMENT]
