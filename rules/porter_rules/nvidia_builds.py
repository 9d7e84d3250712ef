"""Choices of NVIDIA's build of another library."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from porter.rule import Context, Note, Outcome, rule
from porter_rules.leaving import cuda_only
from porter_rules.names import is_call
from porter_rules.nodes import string_value, walk

_PROVIDER = re.compile(r"(?:CUDA|Tensorrt|NvTensorRTRTX)ExecutionProvider")
_BUILD = re.compile(r"(?!--)[\w.\[\]]*[-+](?:gpu|cpu|cu\d+|cuda\w*)(?:[=<>~!].*)?")
_ONNX = (
    "{} is ONNX Runtime's for NVIDIA's chips: on Ascend use CANNExecutionProvider, which "
    "onnxruntime-cann brings, and elsewhere CPUExecutionProvider"
)
_CHOICE = Note(
    "asks for CUDA in order to choose NVIDIA's build of another library, which is of no use to "
    "another device: left, since False is the right answer there",
    whole=True,
)


@rule(
    "PTR709",
    on=(cst.IfExp, cst.SimpleString),
    needs=("ExecutionProvider", "-gpu", "-cpu", "+cpu", "+cu", "-cuda"),
    manual=[
        "import onnxruntime as ort\n"
        's = ort.InferenceSession(p, providers=["CUDAExecutionProvider"])',
        "import torch\nif torch.cuda.is_available():\n"
        '    providers.insert(0, "CUDAExecutionProvider")\n',
    ],
    notes=[
        "import torch\np = ['CUDAExecutionProvider'] if torch.cuda.is_available() else ['CPU']",
        "import torch\nrequire(f\"tensorflow{'' if torch.cuda.is_available() else '-cpu'}\")",
        "import torch\n"
        "require(f\"tensorflow{'' if torch.cuda.is_available() else '-mac' if MAC else '-cpu'}\")",
        "import torch\nrequire('onnxruntime' + ('-gpu' if torch.cuda.is_available() else ''))",
        "import torch\npin = 'faiss-gpu==1.7' if torch.cuda.is_available() else 'faiss-cpu==1.7'",
        "import torch\nindex = url + ('cpu' if not torch.cuda.is_available() else '+cu118')",
    ],
    valid=[
        "import torch\nflag = '--multi-gpu' if torch.cuda.is_available() else '--use-cpu'",
        "import torch\nd = 'cuda' if torch.cuda.is_available() else 'cpu'",
        "import torch\nx = f(x.cuda(), 'faiss-gpu') if torch.cuda.is_available() else x",
        "print('CUDAExecutionProvider is not there')",
        "pin = 'faiss-gpu' if cuda else 'faiss-cpu'",
    ],
)
def nvidia_builds(
    original: cst.BaseExpression, updated: cst.BaseExpression, ctx: Context
) -> Outcome:
    """Leave the choice of a package or provider that NVIDIA's chips need.

    `"onnxruntime-gpu" if torch.cuda.is_available() else "onnxruntime"` asks whether NVIDIA's
    libraries are of use: on an NPU they are not, so the test stays, and is False there. A choice
    in whose branches stands anything but texts is not judged.

    `"CUDAExecutionProvider"` by itself is reported, and the availability test around it stays.
    """
    if isinstance(original, cst.SimpleString):
        value = string_value(original) or ""
        if _PROVIDER.fullmatch(value) is None:
            return None
        return cuda_only(_ONNX.format(value), ctx)
    assert isinstance(original, cst.IfExp)
    if not any(is_call(n, "is_available", ctx) for n in walk(original.test)):
        return None
    texts = [*_texts(original.body), *_texts(original.orelse)]
    if None in texts:
        return None
    return _CHOICE if any(t and _is_nvidias(t) for t in texts) else None


def _is_nvidias(text: str) -> bool:
    return bool(_PROVIDER.fullmatch(text) or _BUILD.fullmatch(text))


def _texts(node: cst.BaseExpression) -> Iterator[str | None]:
    """Yield the texts between which an expression chooses, None for anything else in it."""
    match node:
        case cst.IfExp(body=body, orelse=orelse):
            yield from _texts(body)
            yield from _texts(orelse)
        case cst.List(elements=elements) | cst.Tuple(elements=elements):
            for element in elements:
                yield from _texts(element.value)
        case _:
            yield string_value(node)
