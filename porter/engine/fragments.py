"""From an expression in a statement to fragments: is there a trigger, what do its names mean?"""

from __future__ import annotations

import ast

from porter.engine import triggers
from porter.engine.expressions import Look, look
from porter.engine.facts import FileFacts
from porter.engine.fragment import Fragment
from porter.engine.narrowing import HOPELESS_DEPTH, MAX_BYTES, MAX_DEPTH, parts
from porter.engine.place import Located, Place
from porter.engine.source import Source
from porter.rule import AMBIGUOUS, Role


class Fragments:
    """Collects the fragments of one file.

    `traced` are the identifiers that imports of this file bind to something that rules speak
    about: they are triggers wherever they stand.
    """

    def __init__(self, source: Source, traced: frozenset[str], facts: FileFacts) -> None:
        self.source = source
        self.traced = traced
        self.facts = facts
        self.found: list[Located] = []

    def take(
        self,
        node: ast.expr,
        place: Place,
        role: Role,
        guard: str | None = None,
        hidden: frozenset[str] = frozenset(),
    ) -> None:
        """Make a fragment of an expression, or of its parts where it is too large.

        `hidden` are names that comprehensions and lambdas around the expression bind.
        """
        start, end = self.source.extent(node)
        if (
            end - start > MAX_BYTES
            and isinstance(node, ast.BinOp)
            and (inner := parts(node, role, place.scope))
        ):  # not looked at as a whole: each term would be, for every sum that it is a part of
            for part, part_role in inner:
                self.take(part, place, part_role, guard, hidden)
            return
        seen = look(node, self.traced, annotation=role.kind == "annotation")
        if not seen.triggered and role.name not in triggers.VARIABLES:
            return
        if end - start > MAX_BYTES or seen.depth > MAX_DEPTH:
            inner = parts(node, role, place.scope)
            for part, part_role in inner:
                self.take(part, place, part_role, guard, hidden | seen.bound)
            if inner:
                return
        names, instances = self._names(seen, place, hidden | seen.bound)
        fragment = Fragment(
            start=start,
            end=end,
            text=self.source.data[start:end].decode("utf-8"),
            names=tuple(names.items()),
            role=role,
            instances=tuple(instances.items()),
            flags=place.flags | self.facts.flags,
            guards=place.guards,
            guard=guard,
            frozen=place.frozen,
            names_cuda=self._names_cuda(seen, names, place),
            too_deep=seen.depth > HOPELESS_DEPTH,
        )
        self.found.append(Located(fragment, place))

    def _names(
        self, seen: Look, place: Place, bound: frozenset[str] | set[str]
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Return what the names mean, and what made the variables among them."""
        names: dict[str, str] = {}
        instances: dict[str, str] = {}
        for name in sorted(seen.names):
            meaning = place.scope.meaning(name)
            if name in bound:
                if name in self.traced or name == "torch":
                    names[name] = AMBIGUOUS
            elif meaning is not None:
                names[name] = meaning
            elif (made_by := place.scope.made_by(name)) is not None:
                instances[name] = made_by
        return names, instances

    def _names_cuda(self, seen: Look, names: dict[str, str], place: Place) -> bool:
        """Whether a name leads, or may lead, to torch.cuda, so that some rule has to speak."""
        for chain in seen.chains:
            root: ast.expr = chain
            while isinstance(root, ast.Attribute):
                root = root.value
            if not isinstance(root, ast.Name):
                continue
            meaning = names.get(root.id)
            if meaning == AMBIGUOUS:
                _, bindings = place.scope.find(root.id)
                if any(b.qualified in ("torch", *triggers.MODULES) for b in bindings):
                    return True
            elif meaning is not None:
                qualified = place.scope.qualified(chain) or ""
                if triggers.is_cuda(qualified) and not _is_imported_name(chain, qualified):
                    return True
        return False


def _is_imported_name(chain: ast.expr, qualified: str) -> bool:
    """Whether a bare name was imported from torch.cuda: then its import is what rules speak of."""
    return isinstance(chain, ast.Name) and qualified not in triggers.MODULES
