from __future__ import annotations

SITE = b"""\
import torch


def f(x):
    return x.cuda()
"""
PORTED = b"""\
import torch
import porter_runtime as accel


def f(x):
    return x.to(accel.device_type)
"""
"""What porter makes of SITE."""
MANUAL = b"import torch\n\nhandle = torch.cuda.cudart()\n"
"""A site that porter leaves to a person."""
BROKEN = b"import torch\nx.cuda(\n"
"""What can't be parsed."""
