"""Comparisons of a device with "cuda"."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Manual, Outcome, rule
from porter_rules.comparison_forms import parenthesised
from porter_rules.cuda_kernels import PICKS_KERNEL, picks_kernel
from porter_rules.device_equality import compared, starts_with
from porter_rules.device_strings import device_string
from porter_rules.leaving import (
    BESIDE_QUANTISING,
    FUSED,
    REFUSES_CUDA,
    decides_fused,
    is_quantising,
)


@rule(
    "PTR305",
    on=(cst.Comparison, cst.Call),
    rewrites=[
        ('if device.type == "cuda": ...', "if accel.is_accelerator(device): ..."),
        ('if "cuda" == device.type: ...', "if accel.is_accelerator(device): ..."),
        ('ok = t.device.type == "cuda"', "ok = accel.is_accelerator(t)"),
        ('ok = self.device.type == "cuda"', "ok = accel.is_accelerator(self.device)"),
        ('ok = args.device.type != "cuda"', "ok = not accel.is_accelerator(args.device)"),
        ('ok = model.device.type == "cuda"', "ok = accel.is_accelerator(model.device)"),
        (
            'ok = next(m.parameters()).device.type == "cuda"',
            "ok = accel.is_accelerator(next(m.parameters()).device)",
        ),
        (
            'ok = device.type == torch.device("cuda").type',
            "ok = accel.is_accelerator(device)",
        ),
        (
            'ok = torch.device("cuda:0").type != self.device.type',
            "ok = not accel.is_accelerator(self.device)",
        ),
        (
            'ok = torch.device(d).type == "cuda"',
            "ok = accel.is_accelerator(torch.device(d))",
        ),
        (
            'ok = device == "cuda"',
            "ok = accel.is_accelerator(device) and device == accel.device_type",
        ),
        (
            'ok = fast or "cuda" == args.device',
            "ok = fast or (accel.is_accelerator(args.device) and args.device == accel.device_type)",
        ),
        (
            'ok = args.device != "cuda"',
            "ok = not (accel.is_accelerator(args.device) and args.device == accel.device_type)",
        ),
        ('ok = device_type != "cuda"', "ok = not accel.is_accelerator(device_type)"),
        (
            'ok = str(device) == "cuda"',
            "ok = accel.is_accelerator(device) and str(device) == accel.device_type",
        ),
        ('ok = device.type.lower() == "cuda"', "ok = accel.is_accelerator(device.type.lower())"),
        ('ok = device.split(":")[0] == "cuda"', 'ok = accel.is_accelerator(device.split(":")[0])'),
        ('ok = "cuda" in device', "ok = accel.is_accelerator(device)"),
        ('ok = "cuda" in str(x.device)', "ok = accel.is_accelerator(x.device)"),
        ('ok = "cuda" in self.device.type', "ok = accel.is_accelerator(self.device)"),
        ('ok = "cuda" not in args.device', "ok = not accel.is_accelerator(args.device)"),
        ('ok = str(device).startswith("cuda")', "ok = accel.is_accelerator(device)"),
        (
            'if isinstance(device, str) and device.startswith("cuda"): ...',
            "if isinstance(device, str) and accel.is_accelerator(device): ...",
        ),
        ('ok = device.type in ("cuda",)', "ok = accel.is_accelerator(device)"),
        ("ok = device.type in ('cuda', \"cuda\")", "ok = accel.is_accelerator(device)"),
        (
            'ok = device in ("cuda", "mps")',
            "ok = (accel.is_accelerator(device) and device == accel.device_type)"
            ' or device == "mps"',
        ),
        (
            'ok = device.type in ("cuda", "mps")',
            'ok = accel.is_accelerator(device) or device.type == "mps"',
        ),
        (
            'if self.device.type not in ("cuda", "mps"): ...',
            'if not (accel.is_accelerator(self.device) or self.device.type == "mps"): ...',
        ),
        (
            'ok = fast and device.type in ["mps", "cuda", "xpu"]',
            'ok = fast and (accel.is_accelerator(device) or device.type in ["mps", "xpu"])',
        ),
        (
            'assert device in ["cuda", "cpu"]',
            'assert device in ["cuda", "cpu", accel.device_type]',
        ),
        (
            'assert device in (\n    "cuda",  # NVIDIA\n    "cpu",  # slow\n)',
            'assert device in (\n    "cuda",  # NVIDIA\n    "cpu",  # slow\n'
            "    accel.device_type,\n)",
        ),
        (
            'ok = fast and (device == "cuda")',
            "ok = fast and (accel.is_accelerator(device) and device == accel.device_type)",
        ),
        (
            'if device.type == "cuda" and torch.cuda.is_available(): ...',
            "if accel.is_accelerator(device) and accel.is_available(): ...",
        ),
        (
            'same = x.device == torch.device("cuda")',
            "same = accel.is_accelerator(x.device) and x.device == torch.device(accel.device_type)",
        ),
        (
            'same = d != torch.device("cuda:0")',
            "same = not (accel.is_accelerator(d) and d == accel.torch_device(0))",
        ),
        (
            'same = device == f"cuda:{i}"',
            "same = accel.is_accelerator(device) and device == str(accel.torch_device(i))",
        ),
        (
            'd = "cuda" if "cuda" in device else "cpu"',
            'd = accel.device_type if accel.is_accelerator(device) else "cpu"',
        ),
    ],
    manual=[
        'ok = backend == "cuda"',
        'ok = "cuda" in name',
        'ok = "cuda" in torch.__version__',
        'ok = args.type == "cuda"',
        'ok = platform.type == "cuda"',
        'ok = "cuda" in devices',
        'ok = key.startswith("cuda")',
        'ok = device.startswith("cuda:")',
        'ok = f"cuda:{i}".startswith("cuda")',
        'ok = (d or "cuda:0").lower() == "cuda"',
        'ok = "cuda:{}".format(i).type == "cuda"',
        'ok = device.startswith(("cuda", "mps"))',
        'ok = a.device == b.device == "cuda"',
        'ok = pick() == torch.device("cuda:0")',
        'ok = get_device() == "cuda"',
        'y = ext.cuda_fwd(x) if x.device.type == "cuda" else ext.cpu_fwd(x)',
        "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        '        if x.device.type != "cuda":\n            raise ValueError\n\n\n'
        'def f(x):\n    return g(x) if x.device.type != "cuda" else F.apply(x)',
        'if x.device.type == "cuda":\n    y = roi_cuda.forward(x)',
        "class F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        '        return ext.fwd(x) if x.device.type == "cuda" else x',
        'device = torch.device(name)\nok = device == "cuda"',
        'ok = device in ("cuda:0", "cuda:1")',
        'ok = device.type in (torch.device("cuda").type, "mps")',
        'ok = device not in [torch.device("cuda"), torch.device("mps")]',
        "ok = device.type in 'cuda:%d' % rank",
        'ok = device.type in ("cuda", "nccl")',
        'ok = get_device().type in ("cuda", "mps")',
        'if device == "cuda":\n    if not torch.cuda.is_available():\n        device = "cpu"',
        'if args.device.startswith("cuda"):\n    assert torch.cuda.is_available()',
        "import bitsandbytes as bnb\ndef place(m, d):\n    if isinstance(m, bnb.nn.Linear4bit):\n"
        '        i = d.index if d.type == "cuda" else None',
    ],
    notes=[
        'saved = "cuda" in rng_state_dict',
        'saved = "cuda" not in states.keys()',
        'use_fused = has_fused and device_type == "cuda"',
        'opt = AdamW(params, fused=device.type == "cuda")',
        'ok = device.type in ("cuda", "npu")',
        'if device.type == "npu": ...\nelif device.type == "cuda": ...',
    ],
    valid=[
        'ok = device.type == "cpu"; s = "cuda"',
        'ok = x == ("cuda_amp", 1)',
        "ok = 'cuda' in f'cuda:{i}'",
        'import porter_runtime as accel\nok = device in ["cuda", "cpu", accel.device_type]',
    ],
)
def device_comparison(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> Outcome:
    """Ask `accel.is_accelerator` instead of comparing a device with "cuda".

    It answers for tensors, modules, devices and device strings; on CUDA it is true for CUDA
    devices, on an NPU for NPU devices, and on the CPU for nothing. Comparing with
    `accel.device_type` instead would be true for every device of a CPU-only machine.

    `d.type == "cuda"`, `"cuda" in str(d)` and `startswith("cuda")` mean just that. `d == "cuda"`
    and a comparison with a device of a certain index mean less: "cuda:1" is not equal to "cuda",
    and programs rely on it (`if d == "cuda": d = f"cuda:{current}"`). There the old comparison
    stays, and is asked on an accelerator only. A list with "cpu" in it says which devices are
    known, and gets the resolved one as well.

    Not rewritten: a comparison of which it isn't known whether it is about a device (a backend, a
    key, a file name); a test that picks a CUDA kernel, or stands beside layers of bitsandbytes;
    a test that refuses "cuda" where CUDA is not available (PTR310); strings that are taken apart
    (`startswith("cuda:")`: take `torch.device(d).index`); chains.
    """
    if ctx.within("triton"):
        return None
    if isinstance(original, cst.Call) and isinstance(updated, cst.Call):
        outcome = starts_with(original, updated, ctx)
    else:
        assert isinstance(original, cst.Comparison)
        assert isinstance(updated, cst.Comparison)
        sides = (original.left, *(target.comparator for target in original.comparisons))
        if len(sides) == 2 and all(device_string(side, ctx) for side in sides):
            return None  # of two texts there is nothing to ask
        outcome = compared(original, updated, ctx)
    if not isinstance(outcome, cst.CSTNode):
        return outcome
    if picks_kernel(original, ctx):
        return PICKS_KERNEL
    if decides_fused(ctx.role(original)):
        return FUSED
    if is_quantising(ctx):
        return BESIDE_QUANTISING
    if ctx.within("refuses_cuda"):
        return Manual(REFUSES_CUDA)
    joined = isinstance(ctx.parent, cst.BooleanOperation) and not updated.lpar
    if joined and isinstance(outcome, cst.BooleanOperation):
        return parenthesised(outcome)  # `a and (b and c)` is another tree than `a and b and c`
    return outcome
