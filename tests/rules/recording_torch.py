"""A torch that records what is done with it, on a machine that has CUDA.

Text is executed in a made-up world: every name that it does not define is a `Recorded`, which
takes any call, attribute, index or operator and writes down the calls. `torch` is one too, with
the few parts that have to be real: devices, the availability of CUDA, the classes of mixed
precision. The shim is porter_runtime itself, imported against this torch.

The log tells what reaches torch and the program's own functions: callee, arguments by name and
value, in order. Spelled in one way are what torch itself takes for the same: `x.cuda()` is
`x.to("cuda")`, a device is its text, torch.cuda.amp's names are torch.amp's with "cuda", and
omitted arguments are the defaults of the installed torch's signature. Questions that change
nothing (is_available, device_count, ...) are answered and not written down.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import importlib
import inspect
import itertools
import os
import re
import sys
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import torch as installed_torch

INDEX = 1
"""The value of everything that is called like a rank or an index."""

_INDEX_NAMES = re.compile(r"(?:local_|global_)?rank|lr|gpu|gpu_id|device_id|idx|index|[ijnr]")
_REAL_MODULES = frozenset(
    """
    __future__ abc argparse collections contextlib copy dataclasses enum functools itertools json
    math os re sys types typing warnings
    """.split()
)
_WORDS_OF_THE_MACHINE = {"LOCAL_RANK": "1", "RANK": "1", "CUDA_VISIBLE_DEVICES": "0,1"}
_QUESTIONS = frozenset(
    """
    is_available device_count current_device is_nccl_available is_backend_available
    is_autocast_available
    """.split()
)
_HOMES = re.compile(r"^(torch\.cuda)\.(?:memory|random|streams)\.(?!_)")
_SYNONYMS = {"torch.cuda._lazy_init": "torch.cuda.init"}
_CALLS_AT_MOST = 200


class Trouble(Exception):
    """The world can't say what the text does."""


class Device:
    """torch.device, on a machine with CUDA."""

    def __init__(self, type: Any = "cuda", index: Any = None) -> None:
        if isinstance(type, Device):
            type, index = type.type, type.index
        if isinstance(type, int):
            type, index = "cuda", type
        kind, _, number = str(type).partition(":")
        self.type = kind
        self.index = int(number) if number else index

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        return f"device({self})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


class _Current(int):
    """What torch.cuda.current_device() returns: an index, which is a device where one is taken."""


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
            return _HOMES.sub(r"\1.", value._name)
        case functools.partial():
            return spelled(value.func)
        case _Current():
            return f"'cuda:{int(value)}'"
        case Device():
            return f"'{value}'"
        case dict():
            return "{" + ", ".join(f"{spelled(k)}: {spelled(v)}" for k, v in value.items()) + "}"
        case list() | tuple() | set():
            return f"[{', '.join(map(spelled, value))}]"
        case _Legacy():
            return repr(value.__name__)  # x.type() takes the class and its name
        case type() | FunctionType():
            return value.__name__.removeprefix("Cuda")
    if type(value).__module__ in ("builtins", "enum"):
        return repr(value)
    return f"<{type(value).__name__}>"


class Recorded:
    """A value of which nothing is known but its name."""

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
        if not _is_of_torch(self._name):
            if _INDEX_NAMES.fullmatch(name):
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
        name, args, kwargs = _one_spelling(self._name, args, kwargs)
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
        return self is other or self._world.truth

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
        return ["option"]

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


def _one_spelling(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """Spell what torch takes for the same in one way."""
    name = _HOMES.sub(r"\1.", name)
    name = _SYNONYMS.get(name, name)
    owner, _, last = name.rpartition(".")
    if last == "cuda" and not _is_of_torch(name):
        options = dict(zip(("device", "non_blocking", "memory_format"), args, strict=False)) | kwargs
        device = options.pop("device", None)
        name, args, kwargs = f"{owner}.to", (Device("cuda" if device is None else device),), options
    elif last == "to" and not _is_of_torch(name) and (args or "device" in kwargs):
        kwargs = dict(kwargs)
        first = args[0] if args else kwargs.pop("device")
        args = (_of_index(first), *args[1:])
    for keyword in ("device", "device_id", "map_location"):
        if keyword in kwargs:
            kwargs[keyword] = _of_index(kwargs[keyword])
    if "device_map" in kwargs:
        kwargs["device_map"] = _map(kwargs["device_map"])
    if name == "torch.random.fork_rng":
        kwargs = {"device_type": "cuda", **kwargs}
    if _is_of_torch(name):
        args, kwargs = _by_name(name, args, kwargs)
    return name, args, kwargs


def _is_of_torch(name: str) -> bool:
    """Whether this is a name of the module torch, not what a call of one gave."""
    return re.fullmatch(r"torch[\w.]*", name) is not None


def _of_index(value: Any) -> Any:
    """Return the device that an index means; -1 is what a tensor on the CPU says of itself."""
    if type(value) not in (int, _Current):
        return value
    return Device("cuda", value) if value >= 0 else Device("cpu")


def _map(value: object) -> object:
    """Spell a device_map: the current device is the first one, an index is CUDA's."""
    if isinstance(value, dict):
        return {k: _map(v) for k, v in value.items()}
    if isinstance(value, int):
        return f"cuda:{value}"
    return "cuda:0" if str(value) == "cuda" else value


def _by_name(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Bind arguments as the installed torch's signature does, defaults and all."""
    function: Any = installed_torch
    with contextlib.suppress(AttributeError, TypeError, ValueError):
        for part in name.split(".")[1:]:
            function = getattr(function, part)
        bound = inspect.signature(function).bind(*args, **kwargs)
        bound.apply_defaults()
        variable = [p.name for p in bound.signature.parameters.values() if p.kind in (2, 4)]
        if not variable:
            return (), dict(bound.arguments)
    return args, kwargs


class _Legacy(type):
    """A legacy tensor type."""

    world: World

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        call = f"{cls.__name__}({', '.join(map(spelled, args))})"
        cls.world.record(call)
        return Recorded(cls.world, call)

    def __instancecheck__(cls, instance: object) -> bool:
        return cls.world.truth


def _torch(world: World) -> Recorded:
    """Return the module torch of a world."""
    torch = Recorded(world, "torch")
    cuda, amp, cuda_amp = torch.cuda, torch.amp, torch.cuda.amp

    class autocast(contextlib.ContextDecorator):
        def __init__(
            self,
            device_type: Any,
            dtype: Any = None,
            enabled: Any = True,
            cache_enabled: Any = None,
        ) -> None:
            options = (device_type, dtype, enabled, cache_enabled)
            self.text = f"torch.autocast({', '.join(map(spelled, options))})"
            world.record(self.text)

        def __enter__(self) -> None:
            world.record("enter", self.text)

        def __exit__(self, *failure: object) -> None:
            world.record("exit", self.text)

    class Cudaautocast(autocast):
        def __init__(
            self, enabled: Any = True, dtype: Any = torch.float16, cache_enabled: Any = True
        ) -> None:
            super().__init__("cuda", dtype, enabled, cache_enabled)

    class GradScaler:
        def __init__(
            self,
            device: Any = "cuda",
            init_scale: Any = 2.0**16,
            growth_factor: Any = 2.0,
            backoff_factor: Any = 0.5,
            growth_interval: Any = 2000,
            enabled: Any = True,
        ) -> None:
            world.record(
                "GradScaler",
                device,
                init_scale,
                growth_factor,
                backoff_factor,
                growth_interval,
                enabled,
            )

    class CudaGradScaler(GradScaler):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__("cuda", *args, **kwargs)

    def custom(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
        def of_a_device(function: Any = None, *, device_type: Any, **options: Any) -> Any:
            if function is None:
                return lambda f: of_a_device(f, device_type=device_type, **options)
            options = {"cast_inputs": None, **options}
            world.record(name, function, device_type, options if name == "custom_fwd" else "")
            return function

        def of_cuda(function: Any = None, **options: Any) -> Any:
            return of_a_device(function, device_type="cuda", **options)

        of_a_device.__name__ = of_cuda.__name__ = name
        return of_a_device, of_cuda

    def asks(name: str) -> Callable[..., Any]:
        def ask(device_type: Any = "cuda") -> Any:
            world.record(name, device_type)
            return Recorded(world, f"{name}({spelled(device_type)})")

        return ask

    for module in (torch, amp, amp.autocast_mode):
        module._known["autocast"] = autocast
    for module in (amp, amp.grad_scaler, torch):
        module._known["GradScaler"] = GradScaler
    for module in (cuda_amp, cuda_amp.autocast_mode):
        module._known["autocast"] = Cudaautocast
    for module in (cuda_amp, cuda_amp.grad_scaler):
        module._known["GradScaler"] = CudaGradScaler
    for name in ("custom_fwd", "custom_bwd"):
        of_a_device, of_cuda = custom(name)
        amp._known[name] = amp.autocast_mode._known[name] = of_a_device
        cuda_amp._known[name] = cuda_amp.autocast_mode._known[name] = of_cuda
    torch._known["is_autocast_enabled"] = asks("is_autocast_enabled")
    torch._known["get_autocast_dtype"] = asks("get_autocast_dtype")
    torch._known["get_autocast_gpu_dtype"] = asks("get_autocast_dtype")
    torch._known["device"] = Device
    torch._known["__version__"] = installed_torch.__version__
    out_of_memory = type("OutOfMemoryError", (RuntimeError,), {})
    torch._known["OutOfMemoryError"] = cuda._known["OutOfMemoryError"] = out_of_memory
    torch.nn._known["Module"] = type("Module", (), {})
    torch.nn.utils.rnn._known["PackedSequence"] = type("PackedSequence", (), {})
    torch.autograd._known["Function"] = type("Function", (), {})
    torch.version._known.update(cuda=None, hip=None)
    cuda._known["is_available"] = lambda: True
    cuda._known["device_count"] = lambda: 2
    cuda._known["current_device"] = lambda: _Current(0)
    for dtype in ("Float", "Half", "Long", "Int", "Byte", "Bool", "Double", "Short", "Char"):
        for module in (torch, cuda):
            name = f"{module._name}.{dtype}Tensor"
            module._known[f"{dtype}Tensor"] = _Legacy(name, (), {"world": world})
    return torch


class _Names(dict[str, Any]):
    """The globals of a text: what it doesn't define is unknown, but for what its name says."""

    def __init__(self, world: World, torch: Recorded, shim: Callable[[], Any]) -> None:
        super().__init__(__name__="__main__", __builtins__=_builtins(world, torch, shim))
        self["__annotations__"] = {}
        self._world = world
        self._torch = torch
        self.unknown: set[str] = set()

    def __missing__(self, name: str) -> Any:
        if name in self["__builtins__"]:
            raise KeyError(name)
        self.unknown.add(name)
        return self.setdefault(name, self._made(name))

    def _made(self, name: str) -> Any:
        if _INDEX_NAMES.fullmatch(name):
            return INDEX
        if name in ("e", "err", "error", "exc"):
            return RuntimeError(self._world.fails or "something else")
        if name in ("use_cuda", "cuda", "flag", "use_amp"):
            return self._world.truth
        if name == "device":
            return Device("cuda:0" if self._world.truth else "cpu")
        if name in ("gpu_ids", "device_ids"):
            return [INDEX]
        real = {"torch": self._torch, "os": os, "functools": functools, "partial": functools.partial}
        return real[name] if name in real else Recorded(self._world, name)


def _builtins(world: World, torch: Recorded, shim: Callable[[], Any]) -> dict[str, Any]:
    def load(
        name: str, where: object = None, local: object = None, names: Any = (), level: int = 0
    ) -> Any:
        top, _, rest = name.partition(".")
        if level == 0 and top in _REAL_MODULES:
            return importlib.import_module(name) if names else importlib.import_module(top)
        if level == 0 and top == "porter_runtime":
            return shim()
        module = torch if level == 0 and top == "torch" else Recorded(world, top)
        return functools.reduce(getattr, rest.split("."), module) if names and rest else module

    def shown(*values: object) -> None:
        world.record("shown", *values)

    own: dict[str, Any] = {"print": Recorded(world, "print"), "open": Recorded(world, "open"), "__import__": load}
    own["shown"] = shown
    return {**vars(builtins), **own}


class _Showing(ast.NodeTransformer):
    """Makes visible which branches are taken, and what values expressions have."""

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        if isinstance(node.value, ast.Constant | ast.Await | ast.Yield | ast.YieldFrom):
            return node
        return ast.Expr(ast.Call(ast.Name("shown", ast.Load()), [node.value], []))

    def visit_Pass(self, node: ast.Pass) -> ast.stmt:
        return ast.Expr(ast.Call(ast.Name("shown", ast.Load()), [], []))


@contextlib.contextmanager
def _machine(torch: Recorded) -> Iterator[Callable[[], Any]]:
    """Put the recording torch in the place of torch; yield what imports the shim against it."""
    modules = {n: m for n, m in sys.modules.items() if re.match(r"(torch|porter_runtime)\b", n)}
    environment = dict(os.environ)

    def forget() -> None:
        for name in [n for n in sys.modules if n.partition(".")[0] == "porter_runtime"]:
            del sys.modules[name]

    def shim() -> Any:
        forget()
        module = importlib.import_module("porter_runtime")
        assert module.device_type == "cuda"
        return module

    try:
        os.environ.pop("PORTER_DEVICE", None)
        os.environ.update(_WORDS_OF_THE_MACHINE)
        sys.modules["torch"] = torch  # type: ignore[assignment]  # it is what is imported
        yield functools.lru_cache(shim)
    finally:
        forget()
        sys.modules.update(modules)
        os.environ.clear()
        os.environ.update(environment)


def run(text: str, *, truth: bool, fails: str = "") -> list[str]:
    """Execute a module's text, then its functions and methods; return what was recorded.

    Args:
        text: the module; if it imports the shim it gets porter_runtime, on CUDA.
        truth: the answer to every question that can't be answered.
        fails: the message of the error that calls of `f` raise.

    Raises:
        Trouble: the world is too poor for the text.
    """
    world = World(truth=truth, fails=fails)
    torch = _torch(world)
    with _machine(torch) as shim:
        names = _Names(world, torch, shim)
        if "porter_runtime" in text:
            shim()
        before = set(names)
        world.on = True
        tree = ast.fix_missing_locations(_Showing().visit(ast.parse(text)))
        code = compile(tree, "<text>", "exec", dont_inherit=True)
        _guarded(world, lambda: exec(code, names))
        for name in sorted(set(names) - before):
            rebound = name not in names.unknown or not isinstance(names[name], Recorded)
            if name != "accel" and not name.startswith("__") and rebound:
                _look_at(world, name, names[name], names)
    return world.log


def _guarded(world: World, action: Callable[[], object]) -> object:
    """Do something of the text's, whose own errors are part of what it does."""
    try:
        return action()
    except (AttributeError, ImportError, NameError, TypeError, LookupError, SyntaxError) as error:
        raise Trouble(f"{type(error).__name__}: {error}") from error
    except Trouble:
        raise
    except BaseException as error:
        world.record("raises", type(error).__name__, str(error))
        return None


def _look_at(world: World, name: str, value: object, names: _Names) -> None:
    """Record a name's value; call what can be called."""
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    if isinstance(value, FunctionType) and value.__globals__ is names:
        _call(world, name, value, names)
    elif isinstance(value, type) and value.__module__ == "__main__":
        for inner, member in sorted(vars(value).items()):
            if not inner.startswith("__") or inner in ("__init__", "__call__"):
                _look_at(world, f"{name}.{inner}", member, names)
    else:
        world.record("bind", name, _of_index(value) if name == "device" else value)


def _call(world: World, name: str, function: FunctionType, names: _Names) -> None:
    arguments = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is not parameter.empty:
            world.record("default", f"{name}.{parameter.name}", parameter.default)
        elif parameter.kind is not parameter.POSITIONAL_ONLY:
            arguments[parameter.name] = names[parameter.name]
    for of, annotation in function.__annotations__.items():
        if isinstance(annotation, str):
            annotation = _guarded(world, functools.partial(eval, annotation, names))
        world.record("annotation", f"{name}.{of}", annotation)
    world.record("call", name)
    result = _guarded(world, lambda: function(**arguments))
    if inspect.isgenerator(result):
        result = _guarded(world, lambda: list(itertools.islice(result, 5)))
    world.record("return", name, result)
