"""Places where a value is only told to somebody: printed, logged, put into a text or a record."""

from __future__ import annotations

from porter.rule import Role

_MESSAGES = frozenset(
    """
    print pprint echo secho write debug info warning warn error exception critical log fail
    format join skip skipIf skipUnless skipif xfail
    """.split()
)
_RECORDS = frozenset({"str", "repr", "add_row"})


def is_message(callee: str) -> bool:
    """Whether people read what a function gets: print, a logger's methods, an error's class."""
    name = callee.rpartition(".")[2]
    return name in _MESSAGES or name.endswith(("Error", "Exception", "Exit", "Warning"))


def is_telling(callee: str) -> bool:
    """Whether a function is one of those, or makes text of its arguments."""
    return is_message(callee) or callee.rpartition(".")[2] in _RECORDS


def is_told(role: Role) -> bool:
    """Whether the role is an argument of such a function, an f-string's field or a dict's value."""
    if role.kind in ("formatted", "value", "raise"):
        return True
    return role.kind in ("argument", "keyword") and is_telling(role.callee)
