"""Places where a value is only told to somebody: printed, logged, put into a text or a record."""

from __future__ import annotations

from porter.rule import Role

_FUNCTIONS = frozenset(
    """
    print echo write debug info warning warn error exception critical log
    format join str repr add_row
    """.split()
)


def is_told(role: Role) -> bool:
    """Whether the role is an argument of such a function, an f-string's field or a dict's value."""
    if role.kind in ("formatted", "value", "raise"):
        return True
    return role.kind in ("argument", "keyword") and is_telling(role.callee)


def is_telling(callee: str) -> bool:
    """Whether a function tells its arguments to somebody: print, a logger's methods, an error."""
    name = callee.rpartition(".")[2]
    return name in _FUNCTIONS or name.endswith(("Error", "Exception", "Warning"))
