"""`"cuda"` as a key."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Note, Outcome, rule
from porter_rules.device_arguments import Use
from porter_rules.device_places import is_map_location, keyed
from porter_rules.device_roles import use_of
from porter_rules.device_strings import device_string, is_other_device
from porter_rules.leaving import NPU_HANDLED
from porter_rules.nodes import string_value

_BY_TYPE = (
    'a dict with the key "cuda" beside other devices: looked up with the type of an NPU it has no '
    "answer; add one for it, or look it up with "
    '"cuda" if accel.is_accelerator(d) else d.type'
)
_LOOKED_UP = Note('"cuda" is looked up as a key, which stays as it was stored')
_STORED = Note('the key "cuda" stays: whatever looks it up, or has saved it, knows it by that name')


@rule(
    "PTR308",
    on=(cst.SimpleString, cst.FormattedString),
    manual=[
        'KERNELS = {"cuda": fast, "cpu": slow}',
        'fn = {"cpu": slow, "cuda": fast}[x.device.type]',
        'fn = {"cuda": fast}.get(device.type, slow)',
    ],
    notes=[
        'fn = KERNELS["cuda"]',
        'states["cuda"] = torch.get_rng_state()',
        'n = counts.get("cuda")',
        'info = {"torch": 1, "cuda": 2}',
        'busy[f"cuda:{i}"] = True',
        'K = {"cuda": a, "npu": b, "cpu": c}',
        'K = {"cuda": a, "cpu": c}\ndef f():\n    K["npu"] = b()',
        'stats = {f"cuda:{i}": 0 for i in range(n)}',
    ],
    valid=[
        's = torch.load(p, map_location={"cuda:0": "cpu"})',
        's = torch.load(p, map_location={f"cuda:{i}": "cpu" for i in range(8)})',
        'x = d["cuda_rng"]',
        'device = cfg.get("device", "cuda")',
    ],
)
def device_key(original: cst.BaseString, updated: cst.BaseString, ctx: Context) -> Outcome:
    """Leave "cuda" where it is a key, and point out dicts that choose by the type of a device.

    A key has to equal the one that it was stored under, in this dict, in a checkpoint or in a
    configuration; renaming one end breaks the other. So keys stay, and that is noted. Only a dict
    that holds other devices as well, `{"cuda": fast, "cpu": slow}`, fails on an NPU once it is
    looked up with `device.type`: it needs an entry for the NPU, which porter can't write.

    The keys of a `map_location` dict are names of places in the saved file, and say nothing.
    """
    if device_string(original, ctx) is None or use_of(original, ctx) is not Use.KEY:
        return None
    if ctx.role(original).kind != "key" and not isinstance(ctx.parent, cst.DictComp):
        return _LOOKED_UP
    shown, role = keyed(ctx)
    if role.name and ctx.within(f"holds_npu:{role.name}"):
        return NPU_HANDLED
    if is_map_location(role):
        return None
    keys = []
    if isinstance(shown, cst.Dict):
        keys = [e.key for e in shown.elements if isinstance(e, cst.DictElement)]
    if any(string_value(k) == "npu" for k in keys):
        return _STORED
    return (
        Manual(_BY_TYPE) if role.kind == "receiver" or any(map(is_other_device, keys)) else _STORED
    )
