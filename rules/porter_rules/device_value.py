"""`"cuda"` as a value that means a device."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Outcome, rule
from porter_rules.device_arguments import Use
from porter_rules.device_roles import ported, use_of
from porter_rules.device_strings import DeviceString, device_string
from porter_rules.leaving import NPU_HANDLED


@rule(
    "PTR302",
    on=(cst.SimpleString, cst.FormattedString),
    rewrites=[
        ('x = x.to("cuda")', "x = x.to(accel.device_type)"),
        ("x = x.to('cuda', non_blocking=True)", "x = x.to(accel.device_type, non_blocking=True)"),
        ('m.to(device="cuda")', "m.to(device=accel.device_type)"),
        ('x = torch.zeros(3, device="cuda")', "x = torch.zeros(3, device=accel.device_type)"),
        ('x = y.new_ones(3, device="cuda")', "x = y.new_ones(3, device=accel.device_type)"),
        ('g = torch.Generator("cuda")', "g = torch.Generator(accel.device_type)"),
        ('g = torch.Generator(device="cuda")', "g = torch.Generator(device=accel.device_type)"),
        ('s = torch.load(p, "cuda")', "s = torch.load(p, accel.device_type)"),
        (
            's = torch.load(p, map_location="cuda", weights_only=True)',
            "s = torch.load(p, map_location=accel.device_type, weights_only=True)",
        ),
        ('torch.set_default_device("cuda")', "torch.set_default_device(accel.device_type)"),
        ('m = torch.get_device_module("cuda")', "m = torch.get_device_module(accel.device_type)"),
        (
            "from torch.distributed.device_mesh import init_device_mesh\n"
            'mesh = init_device_mesh("cuda", (2, 4))',
            "from torch.distributed.device_mesh import init_device_mesh\n"
            "mesh = init_device_mesh(accel.device_type, (2, 4))",
        ),
        ('device = "cuda"', "device = accel.device_type"),
        ('n, device = 0, "cuda"', "n, device = 0, accel.device_type"),
        ('self.device = "cuda"', "self.device = accel.device_type"),
        ('cfg["device"] = "cuda"', 'cfg["device"] = accel.device_type'),
        ('DEVICE: str = "cuda"', "DEVICE: str = accel.device_type"),
        ('device = args.device or "cuda"', "device = args.device or accel.device_type"),
        ('run(dev or "cuda")', "run(dev or accel.device_type)"),
        (
            "d = f'cuda:{i}' if i >= 0 else 'cuda'",
            "d = str(accel.torch_device(i)) if i >= 0 else accel.device_type",
        ),
        (
            "e = 'cuda' if q else (f'cuda:{i}' if z else None)",
            "e = accel.device_type if q else (str(accel.torch_device(i)) if z else None)",
        ),
        (
            "print(f'cuda:{i}' if many else 'cuda')",
            "print(str(accel.torch_device(i)) if many else accel.device_type)",
        ),
        (
            'run(dev or "cuda" if fast else "cuda")',
            "run(dev or accel.device_type if fast else accel.device_type)",
        ),
        ("run(['cuda', 'cuda:1'])", "run([accel.device_type, str(accel.torch_device(1))])"),
        ("def f(n, device='cuda'): ...", "def f(n, device=accel.device_type): ..."),
        ("f = lambda x, device='cuda': x", "f = lambda x, device=accel.device_type: x"),
        ('class C:\n    device: str = "cuda"', "class C:\n    device: str = accel.device_type"),
        (
            "from dataclasses import field\n"
            'class C:\n    device: str = field(default="cuda", metadata={"help": "cuda or cpu"})',
            "from dataclasses import field\n"
            "class C:\n"
            '    device: str = field(default=accel.device_type, metadata={"help": "cuda or cpu"})',
        ),
        (
            "from dataclasses import field\n"
            'class C:\n    device: str = field(default_factory=lambda: "cuda")',
            "from dataclasses import field\n"
            "class C:\n    device: str = field(default_factory=lambda: accel.device_type)",
        ),
        ('cfg = {"device": "cuda", "lr": 1}', 'cfg = {"device": accel.device_type, "lr": 1}'),
        ('cfg = dict(device="cuda")', "cfg = dict(device=accel.device_type)"),
        ('main(["--device", "cuda"])', 'main(["--device", accel.device_type])'),
        ('devices = ["cuda", "cpu"]', 'devices = [accel.device_type, "cpu"]'),
        ('for device in ("cpu", "cuda"): ...', 'for device in ("cpu", accel.device_type): ...'),
        (
            'def pick_device():\n    return "cuda"',
            "def pick_device():\n    return accel.device_type",
        ),
        ('d = os.environ.get("DEVICE", "cuda")', 'd = os.environ.get("DEVICE", accel.device_type)'),
        ('d = getattr(args, "device", "cuda")', 'd = getattr(args, "device", accel.device_type)'),
        ('d = kwargs.pop("device", "cuda")', 'd = kwargs.pop("device", accel.device_type)'),
        (
            'p.add_argument("--device", default="cuda", help="cuda or cpu")',
            'p.add_argument("--device", default=accel.device_type, help="cuda or cpu")',
        ),
        (
            'import click\n@click.option("--device", default="cuda")\ndef main(device): ...',
            "import click\n"
            '@click.option("--device", default=accel.device_type)\ndef main(device): ...',
        ),
        (
            'import typer\ndef main(device: str = typer.Option("cuda", "--device")): ...',
            "import typer\n"
            'def main(device: str = typer.Option(accel.device_type, "--device")): ...',
        ),
        (
            'batch = send_to_device(batch, "cuda")',
            "batch = send_to_device(batch, accel.device_type)",
        ),
        ('run("cuda" if args.cuda else "cpu")', 'run(accel.device_type if args.cuda else "cpu")'),
        (
            'x = x.to("cpu" if offload else "cuda")',
            'x = x.to("cpu" if offload else accel.device_type)',
        ),
        (
            'd = torch.device("cuda" if use_gpu else "cpu")',
            'd = torch.device(accel.device_type if use_gpu else "cpu")',
        ),
        ("torch.cuda.set_device('cuda')", "accel.set_device(accel.device_type)"),
        (
            "import pytest\n"
            '@pytest.mark.parametrize("device", ["cpu", "cuda"])\ndef test(device): ...',
            "import pytest\n"
            '@pytest.mark.parametrize("device", ["cpu", accel.device_type])\ndef test(device): ...',
        ),
        (
            "from hypothesis import given, strategies as st\n"
            '@given(device=st.sampled_from(["cpu", "cuda"]))\ndef test(device): ...',
            "from hypothesis import given, strategies as st\n"
            '@given(device=st.sampled_from(["cpu", accel.device_type]))\ndef test(device): ...',
        ),
        (
            "import random\nx = x.to(random.choice(('cpu', 'cuda')))",
            "import random\nx = x.to(random.choice(('cpu', accel.device_type)))",
        ),
    ],
    manual=[
        '@torch.jit.script\ndef f(x):\n    return torch.zeros(1, device="cuda")',
        'def f(device):\n    match device:\n        case "cuda":\n            return 1',
    ],
    notes=[
        "if is_npu_available():\n    device = 'npu'\nelif ok:\n    device = 'cuda'",
    ],
    valid=[
        'print("cuda")',
        'logger.info("cuda")',
        'raise ValueError("cuda")',
        'assert ok, "cuda"',
        'def f():\n    "cuda"',
        'x = getattr(args, "cuda", False)',
        'p.add_argument("--device", default="cpu", help="cuda")',
        'x = model(device_map="cuda")',
        'name = "cuda_amp"',
    ],
)
def device_value(original: cst.BaseString, updated: cst.BaseString, ctx: Context) -> Outcome:
    """Write `accel.device_type` for "cuda" where a device is meant.

    What the string is handed to says that it is a device: `.to()`, a `device=` or `map_location=`
    keyword, a variable, attribute, parameter, key or function with a name such as `device`, an
    option `--device`, or the other branch of a choice ("cpu"). `accel.device_type` is the str
    "cuda" on CUDA, so whatever took the string before takes the same string now.

    A default is evaluated when its module is imported: asking for the type touches no device.

    Not rewritten: text that people read (printed, logged, raised, documented), which stays
    without a finding; a ladder that handles NPU already; and every string of which it isn't known
    whether it is a device, which PTR309 reports.
    """
    if device_string(original, ctx) != DeviceString() or ctx.within("triton"):
        return None
    if use_of(original, ctx) not in (Use.DEVICE, Use.TEXT):
        return None
    if ctx.within("npu_aware"):
        return NPU_HANDLED
    return ported(ctx.runtime("device_type"), ctx.role(original), ctx)
