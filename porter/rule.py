"""The interface between the engine and the rules: what a rule is, asks and answers.

A rule is a pure function from one libcst node to an outcome, with its examples in the decorator::

    @rule("PTR101", on=cst.Call, rewrites=[("x.cuda()", "x.to(accel.device_type)")])
    def tensor_cuda(original, updated, ctx):
        '''Move tensors and modules to the resolved device. ...'''

Ask `ctx` about `original` (what does this name mean here), build from `updated`: nested sites
then compose in one pass. Rules see single expressions, never statements; what the statement does
with the expression is the node's role.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

import libcst as cst


@dataclass(frozen=True)
class Manual:
    """Recognised, but left: `why` names the construct, the reason and the next step.

    With `whole`, edits inside the node are undone as well. A rewrite elsewhere in the file that
    belongs to one of `groups` is undone too: what belongs together changes together or not at all.
    """

    why: str
    whole: bool = True
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class Note:
    """Recognised and rightly left: `why` tells the reader that there is nothing to do.

    With `whole`, edits inside the node are undone.
    """

    why: str
    whole: bool = False


@dataclass(frozen=True)
class Ported:
    """A rewrite that has more to say than its node.

    It only holds if every other site of its `groups` in the file is ported too; `remark` tells
    the reader what to know of the ported code.
    """

    node: cst.CSTNode
    groups: tuple[str, ...] = ()
    remark: str = ""


@dataclass(frozen=True)
class Mirrored:
    """The answer of an import rule: the shim has the same object under this name."""

    attribute: str


OWN = "own:"
"""How the name of a vote group begins that has no members outside of the fragment."""

Outcome = cst.CSTNode | Ported | Manual | Note | None
ImportOutcome = Mirrored | Manual | Note | None


@dataclass(frozen=True)
class Role:
    """What the surroundings do with an expression.

    `kind` is one of

    - "assign", "default", "return", "keyword", "argument": the value of a variable or attribute
      (`name`: its last identifier), of a parameter, of the function `name`, of a call's keyword
      `name`, of a call's positional argument number `position`. `callee` says what is called
      (see `Context.callee`);
    - "element": inside a list, tuple or set, whose own role is `outer`;
    - "value", "key": in a dict; a value's `name` is its key where that is a string, and `outer`
      is the role of the dict;
    - "test": the condition of if, while, assert, a ternary or `not`;
    - "compare", "operand", "receiver", "index", "formatted": in a comparison, an arithmetic
      operation, before a dot, in square brackets, in an f-string's field;
    - "called": what is called; "decorator", "annotation", "with", "except", "iterate" (`name`: the
      loop's variable), "base", "raise", "statement", "target", "pattern", "other".
    """

    kind: str
    name: str = ""
    callee: str = ""
    position: int | None = None
    outer: Role | None = None


AMBIGUOUS = "?"
"""The meaning of an identifier that has several meanings in the same place."""


@dataclass
class Context:
    """What a rule may ask about the node that it is looking at.

    `names` gives the meaning of each identifier of the fragment: a dotted import ("torch.cuda"),
    "builtins.print", ".Batch" for a class or function of this file, or AMBIGUOUS. An identifier
    that is a plain variable is absent. `instances` tells, for a variable that is bound once, what
    was called to make it. `flags` say where the fragment stands ("autograd_function",
    "class_body", "enum", "bitsandbytes", "npu_aware", "method:cuda", "owns_cuda:Batch", ...).
    `guards` are the vote groups of the availability tests around the fragment, `guard` that of
    the test which this fragment itself is.
    """

    alias: str
    names: Mapping[str, str]
    fragment_role: Role = Role("other")
    instances: Mapping[str, str] = field(default_factory=dict)
    flags: frozenset[str] = frozenset()
    guards: tuple[str, ...] = ()
    guard: str | None = None
    stack: list[cst.CSTNode] = field(default_factory=list)
    runtime_nodes: set[int] = field(default_factory=set)
    _kept: list[cst.CSTNode] = field(default_factory=list)
    _qualified: dict[int, tuple[cst.CSTNode | None, str | None]] = field(default_factory=dict)

    def qualified(self, node: cst.CSTNode | None) -> str | None:
        """Return the dotted meaning of a plain attribute chain, or None where it is not known.

        Only chains of names qualify: what a call returns has no qualified name.
        """
        known = self._qualified.get(id(node))
        if known is None or known[0] is not node:
            known = self._qualified[id(node)] = (node, self._resolve(node))
        return known[1]

    def _resolve(self, node: cst.CSTNode | None) -> str | None:
        parts: list[str] = []
        while isinstance(node, cst.Attribute):
            parts.append(node.attr.value)
            node = node.value
        if not isinstance(node, cst.Name):
            return None
        root = self.names.get(node.value)
        if root is None or root == AMBIGUOUS:
            return None
        return ".".join([root, *reversed(parts)])

    def callee(self, call: cst.Call) -> str:
        """Return what is called: a qualified name, or "?.to" where only the last name is known."""
        known = self.qualified(call.func)
        if known is not None:
            return known
        match call.func:
            case cst.Attribute(attr=cst.Name(value=name)) | cst.Name(value=name):
                return f"?.{name}"
        return "?"

    def runtime(self, attribute: str) -> cst.Attribute:
        """Return `accel.<attribute>`, under the alias that this file uses."""
        return cst.Attribute(self.naming_runtime(cst.Name(self.alias)), cst.Name(attribute))

    def naming_runtime(self, node: Node) -> Node:
        """Return the node, as one for which the shim has to be imported where it is kept."""
        self.runtime_nodes.add(id(node))
        self._kept.append(node)  # so that no other node gets its id
        return node

    def runtime_call(self, attribute: str, *arguments: cst.BaseExpression) -> cst.Call:
        """Return `accel.<attribute>(<arguments>)`.

        The call's parentheses take the place of those around an only argument.
        """
        function = self.runtime(attribute)
        match arguments:
            case [cst.Tuple() | cst.Yield()]:
                pass
            case [cst.BaseExpression(lpar=[first, *lpar], rpar=[*rpar, last]) as only]:
                arg = cst.Arg(
                    only.with_changes(lpar=lpar, rpar=rpar),
                    whitespace_after_arg=last.whitespace_before,
                )
                return cst.Call(function, [arg], whitespace_before_args=first.whitespace_after)
        return cst.Call(function, [cst.Arg(a) for a in arguments])

    def within(self, flag: str) -> bool:
        """Whether the fragment stands in such a place."""
        return flag in self.flags

    @property
    def parent(self) -> cst.CSTNode | None:
        """The original node around the current one, None at the fragment's top."""
        return self.stack[-1] if self.stack else None

    def role(self, original: cst.CSTNode) -> Role:
        """Return the role of the node that is being left (see `Role`)."""
        return self._role(original, len(self.stack))

    def _role(self, node: cst.CSTNode, depth: int) -> Role:
        if depth == 0:
            return self.fragment_role
        parent = self.stack[depth - 1]
        match parent:
            case cst.Arg():
                return self._argument_role(parent, depth - 1)
            case cst.Element() | cst.StarredElement():
                return Role("element", outer=self._role(self.stack[depth - 2], depth - 2))
            case cst.DictElement(key=key):
                if node is key:
                    outer = self._role(self.stack[depth - 2], depth - 2)
                    return Role("key", outer=outer)
                name = key.raw_value if isinstance(key, cst.SimpleString) else ""
                outer = self._role(self.stack[depth - 2], depth - 2)
                return Role("value", name=name, outer=outer)
            case cst.IfExp(test=test):
                return Role("test") if node is test else self._role(parent, depth - 1)
            case cst.BooleanOperation():
                return self._role(parent, depth - 1)
            case cst.UnaryOperation(operator=cst.Not()):
                return Role("test")
            case cst.NamedExpr(target=cst.Name(value=name)):
                return Role("assign", name=name)
            case cst.Comparison() | cst.ComparisonTarget():
                return Role("compare")
            case cst.BinaryOperation() | cst.UnaryOperation():
                return Role("operand")
            case cst.Attribute():
                return Role("receiver", name=parent.attr.value)
            case cst.Subscript() | cst.Index() | cst.Slice():
                return Role("receiver" if isinstance(parent, cst.Subscript) else "index")
            case cst.FormattedStringExpression():
                return Role("formatted")
            case cst.Call():
                return Role("called")
            case cst.Param(name=cst.Name(value=name)):
                return Role("default", name=name)
            case cst.Lambda():
                return Role("return")
        return Role("other")

    def _argument_role(self, arg: cst.Arg, depth: int) -> Role:
        call = self.stack[depth - 1]
        if not isinstance(call, cst.Call):
            return Role("base")
        callee = self.callee(call)
        if arg.keyword is not None:
            return Role("keyword", name=arg.keyword.value, callee=callee)
        if arg.star:
            return Role("other", callee=callee)
        return Role("argument", callee=callee, position=call.args.index(arg))


Visit = Callable[[cst.CSTNode, cst.CSTNode, Context], Outcome]
Node = TypeVar("Node", bound=cst.CSTNode)


@dataclass(frozen=True)
class Rule:
    """A registered rule: its function, and the examples that document and test it."""

    code: str
    name: str
    doc: str
    on: tuple[type[cst.CSTNode], ...] = ()
    visit: Visit | None = None
    visit_import: Callable[[Imported], ImportOutcome] | None = None
    rewrites: tuple[tuple[str, str], ...] = ()
    manual: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    valid: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return self.doc.partition("\n")[0]


@dataclass(frozen=True)
class Imported:
    """One name that an import statement binds.

    `qualified` is the dotted name of what is imported, `bound` the identifier in this file,
    `is_from` tells `from a import b` from `import a.b`, and `placement` is one of "module",
    "try", "if", "function", "type_checking". `flags` are those of `Context`.
    """

    qualified: str
    bound: str
    is_from: bool
    placement: str
    flags: frozenset[str] = frozenset()


_RULES: dict[str, Rule] = {}


def _register(code: str, function: Callable[..., object], **fields: object) -> None:
    if code in _RULES:
        raise ValueError(f"{code} is taken by {_RULES[code].name}")
    doc = inspect.cleandoc(function.__doc__ or "")
    if not doc:
        raise ValueError(f"{code} has no docstring")
    name = function.__name__.strip("_").replace("_", "-")
    _RULES[code] = Rule(code=code, name=name, doc=doc, **fields)  # type: ignore[arg-type]  # checked by the two decorators below


def rule(
    code: str,
    *,
    on: type[Node] | tuple[type[Node], ...],
    rewrites: Sequence[tuple[str, str]] = (),
    manual: Sequence[str] = (),
    notes: Sequence[str] = (),
    valid: Sequence[str] = (),
    needs: Sequence[str] = ("cuda", "CUDA"),
) -> Callable[[Callable[[Node, Node, Context], Outcome]], Callable[[Node, Node, Context], Outcome]]:
    """Register the decorated function as the rule `code` for nodes of the types `on`.

    Args:
        code: "PTR" and three digits; never reused.
        on: the node types that the function is called for. `cst.Name` is not among them:
            keywords, attributes and parameters are Names too.
        rewrites: (before, after) as module text; the shim's import is left out of `after`.
        manual: text that is left as it is, with a Manual finding of this code.
        notes: text that is left as it is, with a Note of this code.
        valid: text in which this rule finds nothing.
        needs: words one of which stands in every fragment, or in what its names mean, about which
            the rule can speak: it isn't asked about others. Empty where that can't be told.

    Raises:
        ValueError: the code is taken, the docstring is missing, or a Name is asked for.
    """
    types = on if isinstance(on, tuple) else (on,)
    if cst.Name in types:
        raise ValueError(f"{code}: rules on cst.Name would fire on keywords and attributes")

    def decorate(
        function: Callable[[Node, Node, Context], Outcome],
    ) -> Callable[[Node, Node, Context], Outcome]:
        _register(
            code,
            function,
            on=types,
            visit=cast(Visit, function),
            rewrites=tuple(rewrites),
            manual=tuple(manual),
            notes=tuple(notes),
            valid=tuple(valid),
            needs=tuple(needs),
        )
        return function

    return decorate


def import_rule(
    code: str,
    *,
    rewrites: Sequence[tuple[str, str]] = (),
    manual: Sequence[str] = (),
    notes: Sequence[str] = (),
    valid: Sequence[str] = (),
) -> Callable[
    [Callable[[Imported], ImportOutcome]],
    Callable[[Imported], ImportOutcome],
]:
    """Register the decorated function as the rule `code` for the names that imports bind.

    The first import rule, by code, that answers something other than None decides; the arguments
    are those of `rule`.
    """

    def decorate(
        function: Callable[[Imported], ImportOutcome],
    ) -> Callable[[Imported], ImportOutcome]:
        _register(
            code,
            function,
            visit_import=function,
            rewrites=tuple(rewrites),
            manual=tuple(manual),
            notes=tuple(notes),
            valid=tuple(valid),
        )
        return function

    return decorate


def all_rules() -> list[Rule]:
    """Return every rule of `porter_rules`, in the order of their codes."""
    import porter_rules

    porter_rules.load()
    return [_RULES[code] for code in sorted(_RULES)]
