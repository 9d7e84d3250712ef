"""Values of which nothing is known but their name, and the log of what is done with them."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from recording.devices import Current, Device
from recording.spelling import at_home, is_of_torch, one_spelling

INDEX = 1
"""The value of everything that is called like a rank or an index."""

INDEX_NAMES = re.compile(
    r"(?:local_|global_)?rank|lr|gpu|gpu_id|device_id|process_index|idx|index|[ijnr]"
)

_QUESTIONS = frozenset(
    """
    is_available device_count current_device is_nccl_available is_backend_available
    is_autocast_available is_torch_cuda_available
    """.split()
)

_CALLS_AT_MOST = 200


class Trouble(Exception):
    """The world can't say what the text does."""


class World:
    """What holds while a text runs, and what it did.

    `truth` is the answer to every open question: the truth of an unknown value, whether it equals
    another one. `fails` is what the functions of the program's own that are called `f` raise.
    """

    def __init__(self, *, truth: bool, fails: str = "") -> None:
        self.truth = truth
        self.fails = fails
        self.log: list[str] = []
        self.on = False

    def record(self, what: str, *details: object) -> None:
        """Write one line."""
        if not self.on:
            return
        if len(self.log) > _CALLS_AT_MOST:
            raise Trouble("goes on and on")
        self.log.append(" ".join([what, *map(spelled, details)]))


def spelled(value: object) -> str:
    """Return a value's one spelling in the log."""
    match value:
        case Recorded():
            return at_home(value._name)
        case functools.partial():
            return spelled(value.func)
        case Current():
            return f"'cuda:{int(value)}'"
        case Device():
            return f"'{value!s}'"
        case dict():
            return "{" + ", ".join(f"{spelled(k)}: {spelled(v)}" for k, v in value.items()) + "}"
        case list() | tuple() | set():
            return f"[{', '.join(map(spelled, value))}]"
        case Legacy():
            return repr(value.__name__)  # x.type() takes the class and its name
        case type() | FunctionType():
            return value.__name__.removeprefix("Cuda")
    if type(value).__module__ in ("types", "typing"):
        return re.sub(r"[\w.<>]+\.(?:Cuda)?(\w+)", r"\1", repr(value))
    if type(value).__module__ in ("builtins", "enum"):
        return repr(value)
    return f"<{type(value).__name__.removeprefix('Cuda')}>"


class Recorded:
    """A value of which nothing is known but its name."""

    _world: World
    _name: str
    _known: dict[str, Any]

    def __init__(self, world: World, name: str) -> None:
        self.__dict__.update(_world=world, _name=name, _known={})

    def __getattr__(self, name: str) -> Any:
        known = self._known
        if name not in known:
            if name.startswith("__") and name != "__func__":
                raise AttributeError(name)
            known[name] = self._attribute(name)
        return known[name]

    def _attribute(self, name: str) -> Any:
        if self._name == "torch" and name in ("npu", "xpu", "mps"):
            raise AttributeError(name)  # this machine has CUDA
        if not is_of_torch(self._name):
            if INDEX_NAMES.fullmatch(name):
                return INDEX
            if name == "device":
                return Device("cuda:0" if self._world.truth else "cpu")
            if name in ("is_cuda", "is_cpu"):
                return (name == "is_cuda") is self._world.truth
        return Recorded(self._world, f"{self._name}.{name}")

    def __setattr__(self, name: str, value: object) -> None:
        self._world.record("set", f"{self._name}.{name}", value)
        self._known[name] = value

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name, args, kwargs = one_spelling(self._name, args, kwargs)
        last = name.rpartition(".")[2]
        if last == "get_backend":
            return "nccl"
        if last in _QUESTIONS:
            return True
        if last == "get_device":
            return 0 if self._world.truth else -1
        if last == "type" and not args:
            return Recorded(self._world, f"{name}()")
        arguments = [*map(spelled, args), *(f"{k}={spelled(v)}" for k, v in sorted(kwargs.items()))]
        call = f"{name}({', '.join(arguments)})"
        self._world.record(call)
        if self._world.fails and name == "f":
            raise RuntimeError(self._world.fails)
        return None if last == "record_stream" else Recorded(self._world, call)

    def __getitem__(self, key: object) -> Any:
        name = f"{self._name}[{spelled(key)}]"
        return self._known.setdefault(name, Recorded(self._world, name))

    def __setitem__(self, key: object, value: object) -> None:
        self._world.record("set", f"{self._name}[{spelled(key)}]", value)

    def __delitem__(self, key: object) -> None:
        self._world.record("del", f"{self._name}[{spelled(key)}]")

    def __bool__(self) -> bool:
        self._world.record("?")
        self._world.log.pop()  # counted, so that no loop goes on for ever
        return self._world.truth

    def __eq__(self, other: object) -> bool:
        known = isinstance(other, Recorded | str | int | float | None)
        return self is other or (known and self._world.truth)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._name)

    def __contains__(self, item: object) -> bool:
        return self._world.truth

    def __iter__(self) -> Iterator[Any]:
        return iter([Recorded(self._world, f"{self._name}[{n}]") for n in range(2)])

    def __next__(self) -> Any:
        return Recorded(self._world, f"next({self._name})")

    def __len__(self) -> int:
        return 2

    def keys(self) -> list[str]:
        """Let `**options` be something."""
        return ["enabled"]

    def __enter__(self) -> Any:
        self._world.record("enter", self)
        return self

    def __exit__(self, *failure: object) -> None:
        self._world.record("exit", self)

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        return ()

    def __instancecheck__(self, instance: object) -> bool:
        return self._world.truth

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return spelled(self)

    def __format__(self, spec: str) -> str:
        return self._name

    def __int__(self) -> int:
        return INDEX

    def __index__(self) -> int:
        return INDEX

    def __float__(self) -> float:
        return float(INDEX)


def _operator(name: str) -> Callable[..., Recorded]:
    def apply(self: Recorded, *others: object) -> Recorded:
        return Recorded(self._world, f"{name}({', '.join(map(spelled, (self, *others)))})")

    return apply


for _name in "add sub mul truediv floordiv mod pow and or xor neg invert lt le gt ge".split():
    setattr(Recorded, f"__{_name}__", _operator(_name))
    setattr(Recorded, f"__r{_name}__", _operator(f"r{_name}"))


class Legacy(type):
    """A legacy tensor type."""

    world: World

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        call = f"{cls.__name__}({', '.join(map(spelled, args))})"
        cls.world.record(call)
        return Recorded(cls.world, call)

    def __instancecheck__(cls, instance: object) -> bool:
        return cls.world.truth
