"""Options of a program's own configuration that ask for CUDA's kernels."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Note, Outcome, rule
from porter_rules.nodes import string_value

_EAGER = "attention kernels that are CUDA's: on an NPU write eager_attention, or sdpa, instead"
_BITS = "bitsandbytes, whose kernels are CUDA's: on an NPU load in bf16 instead"
_OPTIONS = {
    "flash_attention": _EAGER,
    "load_in_4bit": _BITS,
    "load_in_8bit": _BITS,
    "s2_attention": _EAGER,
    "sdp_attention": _EAGER,
    "tf32": "a format that NVIDIA's devices alone have: on an NPU leave it off",
    "xformers_attention": _EAGER,
}
_READS = frozenset({"get", "getattr", "hasattr", "pop", "setdefault"})


@rule(
    "PTR710",
    on=(cst.Attribute, cst.SimpleString),
    needs=("_attention", "load_in_", "tf32"),
    notes=[
        "if self.cfg.flash_attention and not cfg.sample_packing:\n    pass\n",
        "if cfg.s2_attention:\n    pass\n",
        "elif_ = 1 if cfg.xformers_attention else 2\n",
        'if cfg.tf32 or data.get("sdp_attention") or data["tf32"]:\n    pass\n',
        "quantized = cfg.load_in_4bit or cfg.load_in_8bit\n",
        'training_kwargs["tf32"] = self.cfg.tf32\n',
        'if cfg.tf32 or getattr(args, "flash_attention", False):\n    pass\n',
    ],
    valid=[
        "y = self.flash_attention(x)  # cuda\n",
        "import ops  # cuda\nf = ops.flash_attention\n",
        'm = AutoModel.from_pretrained("x", load_in_8bit=args.load_in_8bit)\n',
        'print("flash_attention", "tf32")\n',
        "cfg.flash_attention = False  # cuda\n",
        'CLASSES["flash_attention"] = FlashAttention  # cuda\n',
    ],
)
def cuda_options(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> Outcome:
    """Note where a program reads an option that asks for CUDA's kernels, by the option's name.

    Names such as `flash_attention`, `s2_attention`, `xformers_attention`, `load_in_8bit` and
    `tf32` are those of axolotl and of many a trainer. Code that reads them works on every device,
    and is left; what an NPU lacks is what they switch on. So the place to act is the
    configuration, in which porter points them out (PTR806, PTR807, PTR809), or a check where it
    is read that refuses the option where `accel.device_type` is "npu". The note says which option
    to use there instead.
    """
    role = ctx.role(original)
    if isinstance(original, cst.Attribute):
        name = original.attr.value
        reads = role.kind not in ("called", "receiver", "target", "base", "decorator")
        handed_on = role.kind == "keyword" and role.name == name  # for whom others speak
        reads = reads and ctx.qualified(original) is None and not handed_on
    else:
        name = string_value(original) or ""
        called = role.callee.rpartition(".")[2]
        reads = role.kind == "argument" and called in _READS
        reads |= role.kind == "index" and bool(ctx.stack)  # a target's index is its own fragment
    if not reads or name not in _OPTIONS:
        return None
    return Note(f"where {name} is on, it asks for {_OPTIONS[name]}")
