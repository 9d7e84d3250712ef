"""`"cuda:1"`, f"cuda:{i}" and the other spellings of a device with an index."""

from __future__ import annotations

import libcst as cst

from porter.rule import Context, Outcome, rule
from porter_rules.device_arguments import Use
from porter_rules.device_roles import ported, use_of
from porter_rules.device_strings import SPELLINGS, device_string
from porter_rules.leaving import NPU_HANDLED


@rule(
    "PTR303",
    on=SPELLINGS,
    rewrites=[
        ('x = x.to("cuda:0")', "x = x.to(accel.torch_device(0))"),
        ('x = x.to(f"cuda:{rank}")', "x = x.to(accel.torch_device(rank))"),
        ('x = torch.zeros(3, device="cuda:1")', "x = torch.zeros(3, device=accel.torch_device(1))"),
        ('x = y.new_ones(3, device="cuda:1")', "x = y.new_ones(3, device=accel.torch_device(1))"),
        (
            's = torch.load(p, map_location="cuda:0", weights_only=True)',
            "s = torch.load(p, map_location=accel.torch_device(0), weights_only=True)",
        ),
        ('s = torch.load(p, f"cuda:{r}")', "s = torch.load(p, accel.torch_device(r))"),
        ('torch.cuda.set_device("cuda:1")', "accel.set_device(accel.torch_device(1))"),
        ("device = 'cuda:0'", "device = str(accel.torch_device(0))"),
        ("d = f'cuda:{rank}'", "d = str(accel.torch_device(rank))"),
        ("d = f'cuda:{rank:d}'", "d = str(accel.torch_device(rank))"),
        ("d = f'cuda:{rank!s}'", "d = str(accel.torch_device(rank))"),
        ("d = 'cuda:%d' % rank", "d = str(accel.torch_device(rank))"),
        ("d = 'cuda:%s' % (rank,)", "d = str(accel.torch_device(rank))"),
        ("d = 'cuda:' + str(rank)", "d = str(accel.torch_device(rank))"),
        ("d = 'cuda:' + str(rank % n)", "d = str(accel.torch_device(rank % n))"),
        ("gpu = '1'\nd = 'cuda:' + (gpu)", "gpu = '1'\nd = str(accel.torch_device(gpu))"),
        ("d = 'cuda:{}'.format(rank)", "d = str(accel.torch_device(rank))"),
        ("d = 'cuda:{0}'.format(rank)", "d = str(accel.torch_device(rank))"),
        ("d = 'cuda:{gpu}'.format(gpu=rank)", "d = str(accel.torch_device(rank))"),
        (
            "import os\nd = f\"cuda:{os.environ['LOCAL_RANK']}\"",
            "import os\nd = str(accel.torch_device(os.environ['LOCAL_RANK']))",
        ),
        ("def f(device='cuda:0'): ...", "def f(device=str(accel.torch_device(0))): ..."),
        ("run(x, 'cuda:1')", "run(x, str(accel.torch_device(1)))"),
        ("m = init(cfg, gpu='cuda:1')", "m = init(cfg, gpu=str(accel.torch_device(1)))"),
        (
            "gpus = ['cuda:0', 'cuda:1']",
            "gpus = [str(accel.torch_device(0)), str(accel.torch_device(1))]",
        ),
        (
            "gpus = [f'cuda:{i}' for i in range(n)]",
            "gpus = [str(accel.torch_device(i)) for i in range(n)]",
        ),
        ("c = {'model': 'cuda:0'}", "c = {'model': str(accel.torch_device(0))}"),
        (
            "s = torch.load(p, map_location={f'cuda:{i}': f'cuda:{rank}' for i in range(8)})",
            "s = torch.load(p, map_location={f'cuda:{i}': str(accel.torch_device(rank))"
            " for i in range(8)})",
        ),
        ("def f():\n    return f'cuda:{i}'", "def f():\n    return str(accel.torch_device(i))"),
        (
            "p.add_argument('--device', default='cuda:0')",
            "p.add_argument('--device', default=str(accel.torch_device(0)))",
        ),
        (
            "d = f'cuda:{i}' if i >= 0 else 'cpu'",
            "d = str(accel.torch_device(i)) if i >= 0 else 'cpu'",
        ),
    ],
    notes=[
        "if is_npu_available():\n    d = f'npu:{i}'\nelse:\n    d = f'cuda:{i}'",
    ],
    valid=[
        "print('cuda:0')",
        "logger.info(f'cuda:{i}')",
        "print('cuda:' + str(i) + ' is used')",
        "raise ValueError('cuda:%d' % i)",
        "path = f'cuda:{i}.pt'",
        "print(f'on {f\"cuda:{i}\"}')",
        "d = f'cuda:{i:>2}'",
        "x = stats[f'cuda:{i}']",
        "d = b'cuda:0'",
    ],
)
def indexed_device(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> Outcome:
    """Write `accel.torch_device(i)` for "cuda:<i>", as a str where it was handed on as a str.

    One answer to all spellings: literal, f-string, `%`, `+`, `.format`. The index is evaluated
    once, as before; `accel.torch_device` takes an int or its text. A function of torch that takes
    a device, and `.to()`, get the torch.device; elsewhere it is `str(accel.torch_device(i))`,
    which on CUDA is the very string: it may be compared, printed or saved later. On the CPU, which
    is one device, the index is dropped.

    Not rewritten: keys and comparisons (PTR308, PTR305), text that people read, and strings that
    are longer than a device (file names, templates).
    """
    found = device_string(updated, ctx)
    if found is None or found.index is None or ctx.within("triton"):
        return None
    use = use_of(original, ctx)
    if use not in (Use.DEVICE, Use.TEXT, Use.UNKNOWN):
        return None
    if ctx.within("npu_aware"):
        return NPU_HANDLED
    node = found.as_device(ctx) if use is Use.DEVICE else found.as_text(ctx)
    return ported(node, ctx.role(original), ctx)
