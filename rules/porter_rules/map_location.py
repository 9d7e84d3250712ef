"""`map_location` as a function, and as a dict."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.cuda_argument import ported_device
from porter_rules.device_places import is_map_location
from porter_rules.device_strings import device_string, looks_like_device
from porter_rules.nodes import walk

_CHOOSES = (
    "a map_location function that moves storages with .cuda() by a choice of its own: storages "
    "have no .to() for other devices; return accel.torch_device(i) from it, or the storage for CPU"
)


@rule(
    "PTR307",
    on=cst.Lambda,
    needs=("lambda",),
    rewrites=[
        (
            "s = torch.load(p, map_location=lambda storage, loc: storage.cuda(0))",
            "s = torch.load(p, map_location=accel.torch_device(0))",
        ),
        (
            "s = torch.load(p, map_location=lambda s, l: s.cuda(args.gpu), weights_only=True)",
            "s = torch.load(p, map_location=accel.torch_device(args.gpu), weights_only=True)",
        ),
        (
            "s = torch.load(p, lambda s, l: s.cuda(device=rank))",
            "s = torch.load(p, accel.torch_device(rank))",
        ),
        (
            "s = torch.load(p, map_location=lambda s, l: s.cuda())",
            "s = torch.load(p, map_location=accel.device_type)",
        ),
        (
            "s = torch.load(p, map_location=lambda s, l: s.cuda('cuda:1'))",
            "s = torch.load(p, map_location=accel.torch_device(1))",
        ),
        (
            "s = torch.load(p, map_location=lambda s, l: s.cuda(torch.cuda.current_device()))",
            "s = torch.load(p, map_location=accel.torch_device(accel.current_device()))",
        ),
        (
            "s = torch.load(p, map_location=lambda s, l: s.cuda(None))",
            "s = torch.load(p, map_location=accel.device_type)",
        ),
        (
            "s = torch.load(p, map_location=lambda s, l: s.cuda(x.get_device()))",
            "s = torch.load(p, map_location=x.device)",
        ),
    ],
    manual=[
        "s = torch.load(p, map_location=lambda s, l: s.cuda(0) if gpu else s)",
        "s = torch.load(p, map_location=lambda s, l: s.cuda(l))",
        "s = torch.load(p, map_location=lambda s, l: s.cuda(*gpu))",
        "s = torch.load(p, map_location=lambda s, l: s.cuda('cuda:1' if big else None))",
        "s = torch.load(p, map_location=lambda s, l: s.cuda(torch.device('cuda:1')))",
    ],
    valid=[
        "s = torch.load(p, map_location=lambda storage, loc: storage)",
        's = torch.load(p, map_location={"cuda:0": "cpu"})',
        'f = lambda x, y: x.to("cuda")',
    ],
)
def map_location(original: cst.Lambda, updated: cst.Lambda, ctx: Context) -> Outcome:
    """Give `map_location` the device itself where a function moves each storage to it.

    `lambda storage, loc: storage.cuda(i)` becomes `accel.torch_device(i)`: torch.load puts every
    storage there, on CUDA as before. A storage has no `.to()` that takes every device, so the
    function can't be kept. `lambda storage, loc: storage`, which means the CPU, stays.

    In a dict, `{"cuda:0": f"cuda:{rank}"}`, the keys name the places in the saved file and stay;
    the values are ported by PTR302 and PTR303.

    Not rewritten: functions that choose, or that use the place that is stored in the file.
    """
    if not is_map_location(ctx.role(original)) or not original.params.params:
        return None
    storage = original.params.params[0].name.value
    call, ported = original.body, updated.body
    if not any(_moves(node, storage) for node in walk(call)):
        return None
    if not isinstance(call, cst.Call) or not _moves(call, storage) or len(call.args) > 1:
        return Manual(_CHOOSES)
    if not call.args:
        return ctx.runtime("device_type")
    index = call.args[0]
    parameters = {p.name.value for p in original.params.params}
    used = {n.value for n in walk(index) if isinstance(n, cst.Name)}
    named = index.keyword is None or index.keyword.value == "device"
    if index.star or not named or used & parameters:
        return Manual(_CHOOSES)
    if device_string(index.value, ctx) is None and any(looks_like_device(n) for n in walk(index)):
        return Manual(_CHOOSES)
    assert isinstance(ported, cst.Call)
    return ported_device(index.value, ported.args[0].value, ctx)


def _moves(node: cst.CSTNode, storage: str) -> bool:
    """Whether the node is `storage.cuda(...)`."""
    match node:
        case cst.Call(func=cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value="cuda"))):
            return owner == storage
    return False
