"""`.cuda()` on tensors and modules."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.arguments import keyword as as_keyword
from porter_rules.cuda_argument import ported_device
from porter_rules.device_places import is_placed_storage
from porter_rules.leaving import NPU_HANDLED, QUANTISES, is_quantising
from porter_rules.receivers import is_class, is_storage, is_super, own_library, owner_of_cuda

_STARRED = (
    "what the starred arguments of .cuda() hold is not known here: pass the device by itself, "
    "as in `.to(accel.torch_device(index), non_blocking=...)`"
)
_FOREIGN = (
    "these are not the arguments of torch's .cuda(device, non_blocking): if the object is one of "
    "this project's own, let its class move itself to accel.device_type"
)
_STORAGE = (
    "a storage has no .to(device): give map_location a device, accel.torch_device(index), in "
    "place of this function"
)
_SUPER = (
    "super().cuda() belongs to an override, which .to() doesn't run: move what the override moves "
    "in an override of _apply(), or of to(), and call .to(accel.device_type) from outside"
)
_UNBOUND = (
    "calls the method through its class: call it on the object, `x.to(accel.device_type)`, and "
    "let subclasses move themselves"
)
_PARAMETERS = ("device", "non_blocking")
_KEYWORDS = frozenset({*_PARAMETERS, "memory_format"})


@rule(
    "PTR101",
    on=cst.Call,
    rewrites=[
        ("x.cuda()", "x.to(accel.device_type)"),
        ("x = x.cuda(non_blocking=True)", "x = x.to(accel.device_type, non_blocking=True)"),
        ("x.cuda(rank)", "x.to(accel.torch_device(rank))"),
        ("x.cuda(0, True)", "x.to(accel.torch_device(0), non_blocking=True)"),
        ("x.cuda(device=i)", "x.to(device=accel.torch_device(i))"),
        (
            "x.cuda(non_blocking=True, device=i)",
            "x.to(non_blocking=True, device=accel.torch_device(i))",
        ),
        ("x.cuda(None)", "x.to(accel.device_type)"),
        ("m.cuda(device=None)", "m.to(device=accel.device_type)"),
        (
            "x = x.cuda(args.gpu, non_blocking=True)",
            "x = x.to(accel.torch_device(args.gpu), non_blocking=True)",
        ),
        ("x.cuda('cuda:1')", "x.to(accel.torch_device(1))"),
        ("x.cuda('cuda')", "x.to(accel.device_type)"),
        ("x.cuda(f'cuda:{i}')", "x.to(accel.torch_device(i))"),
        (
            "x.cuda(torch.cuda.current_device())",
            "x.to(accel.torch_device(accel.current_device()))",
        ),
        ("buf = torch.zeros(3).cuda(x.get_device())", "buf = torch.zeros(3).to(x.device)"),
        (
            "x = x.cuda(self.get_device(), non_blocking=True)",
            "x = x.to(accel.torch_device(self.get_device()), non_blocking=True)",
        ),
        (
            "x.cuda(memory_format=torch.channels_last)",
            "x.to(accel.device_type, memory_format=torch.channels_last)",
        ),
        (
            "y = (crit(a, b)  # keep me\n     .cuda()  # and me\n     .mean())",
            "y = (crit(a, b)  # keep me\n     .to(accel.device_type)  # and me\n     .mean())",
        ),
        (
            "y = x.cuda(  # move\n    rank,  # local\n    non_blocking=True,\n)  # noqa: E501",
            "y = x.to(  # move\n    accel.torch_device(rank),  # local\n    non_blocking=True,\n)"
            "  # noqa: E501",
        ),
        (
            "x = x.cuda(\n    non_blocking=True,\n)",
            "x = x.to(\n    accel.device_type, non_blocking=True,\n)",
        ),
        (
            "if use_cuda: x = x.cuda(); y = y.cuda()",
            "if use_cuda: x = x.to(accel.device_type); y = y.to(accel.device_type)",
        ),
        (
            "z = torch.cat([a.cuda(), b.t().cuda(1)]).cuda()",
            "z = torch.cat([a.to(accel.device_type), b.t().to(accel.torch_device(1))])"
            ".to(accel.device_type)",
        ),
        (
            "model.apply(lambda m: m.cuda())",
            "model.apply(lambda m: m.to(accel.device_type))",
        ),
        (
            "class Batch:\n    def cuda(self, *a):\n        self.x = self.x.cuda()",
            "class Batch:\n    def cuda(self, *a):\n        self.x = self.x.to(accel.device_type)",
        ),
        (
            "from .models import net\nnet.cuda()",
            "from .models import net\nnet.to(accel.device_type)",
        ),
    ],
    manual=[
        "x.cuda(*args)",
        "x.cuda(**kwargs)",
        "x.cuda(0, True, False)",
        "batch.cuda(labels=True)",
        "class Batch:\n    def cuda(self): ...\nb = Batch().cuda()",
        "class Batch:\n    def cuda(self): ...\ndef f():\n    b = Batch().cuda()\n    b.cuda()",
        "class Batch:\n    def cuda(self): ...\ndef f():\n    b = Batch(1)\n    return b.cuda()",
        "class Batch:\n    def cuda(self): ...\ndef f(b: Batch):\n    return b.cuda()",
        "class Rot:\n    def cuda(self): ...\nclass Rigid:\n"
        "    def __init__(self, rots: Optional[Rot]):\n        self._rots = rots\n"
        "    def move(self):\n        return self._rots.cuda()",
        "class A:\n    def cuda(self): ...\nclass B(A): ...\nb = B().cuda()",
        "class Net(nn.Module):\n    def cuda(self): ...\n    def go(self):\n        self.cuda()",
        "class Net(nn.Module):\n    def cuda(self, device=None):\n        super().cuda(device)",
        "place(lambda s, loc: s.cuda(0))",
        "def place(storage, loc):\n    return storage.cuda(0)",
        "s = x.untyped_storage().cuda()",
        "import bitsandbytes as bnb\ndef f(w):\n    w = bnb.nn.Int8Params(w)\n    return w.cuda(0)",
        "torch.Tensor.cuda(x)",
        "y = x.cuda(rank, True, non_blocking=True)",
        "y = x.cuda(0, device=1)",
        "class Net(nn.Module): ...\nNet.cuda(m, 0)",
        "from models import Net\nNet.cuda(m)",
        "@torch.jit.script\ndef f(x: torch.Tensor):\n    return x.cuda()",
    ],
    notes=[
        "if is_npu_available():\n    x = x.npu()\nelse:\n    x = x.cuda()",
        "class P(nn.Module):\n    def cuda(self):\n        return super().cuda()\n"
        "    def npu(self):\n        return super().npu()",
    ],
    valid=[
        "args.cuda = True",
        "if args.cuda:\n    pass",
        "import tvm\ndev = tvm.cuda(0)",
        "cuda(x)",
        "def f(x, cuda=False): ...\nf(x, cuda=True)",
        "self.x_cuda()",
    ],
)
def tensor_cuda(original: cst.Call, updated: cst.Call, ctx: Context) -> Outcome:
    """Move tensors and modules to the device at hand with `.to(...)`.

    `x.cuda()` becomes `x.to(accel.device_type)`; with an index, `x.to(accel.torch_device(index))`,
    which takes whatever `.cuda` takes: an int, None, a string, a torch.device. A second positional
    argument becomes `non_blocking=`; comments and line breaks stay where they are.

    On CUDA `.to` makes the same copy, of tensors as of modules, and like `.cuda` it moves a module
    in place; the result of a bare `x.cuda()` stays unused. Without an accelerator it returns the
    tensor itself.

    Left for you: an object whose class, in this file, defines `cuda` itself (it may have no `.to`,
    and a module's `.to` doesn't run an overridden `cuda`), starred arguments, storages in a
    `map_location` function, bitsandbytes layers.
    """
    func = updated.func
    if not isinstance(func, cst.Attribute) or func.attr.value != "cuda":
        return None
    assert isinstance(original.func, cst.Attribute)
    receiver = original.func.value
    if own_library(receiver, ctx) or ctx.qualified(receiver) == "torch":
        return None
    if ctx.within("npu_aware"):
        return NPU_HANDLED
    if is_quantising(ctx):
        return QUANTISES
    if is_placed_storage(receiver, ctx):
        return None
    why = _why_left(original, receiver, ctx)
    if why is not None:
        return Manual(why)
    args = [
        _argument(i, a, b, ctx)
        for i, (a, b) in enumerate(zip(original.args, updated.args, strict=True))
    ]
    if not _names_device(original):
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        args.insert(
            0,
            cst.Arg(ctx.runtime("device_type"), comma=comma if args else cst.MaybeSentinel.DEFAULT),
        )
    return updated.with_changes(
        func=func.with_changes(attr=func.attr.with_changes(value="to")), args=args
    )


def _why_left(call: cst.Call, receiver: cst.BaseExpression, ctx: Context) -> str | None:
    if any(a.star for a in call.args):
        return _STARRED
    keywords = {a.keyword.value for a in call.args if a.keyword is not None}
    named = [*_PARAMETERS[: len(call.args) - len(keywords)], *keywords]
    if keywords - _KEYWORDS or len(named) != len(call.args) or len({*named}) != len(named):
        return _FOREIGN
    if is_class(receiver, ctx):
        return _UNBOUND
    if is_super(receiver):
        return _SUPER
    owner = owner_of_cuda(receiver, ctx)
    if owner:
        return (
            f"{owner} defines cuda() itself, and .to() would not run it: let its cuda() and to() "
            "move the object to accel.device_type, and call that"
        )
    if is_storage(receiver, ctx):
        return _STORAGE
    return None


def _names_device(call: cst.Call) -> bool:
    return any(a.keyword is None or a.keyword.value == "device" for a in call.args)


def _argument(index: int, original: cst.Arg, updated: cst.Arg, ctx: Context) -> cst.Arg:
    keyword = original.keyword.value if original.keyword is not None else None
    if keyword == "device" or (keyword is None and index == 0):
        return updated.with_changes(value=ported_device(original.value, updated.value, ctx))
    return updated if keyword is not None else as_keyword(updated, "non_blocking")
