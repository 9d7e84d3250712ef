"""Which torch, torch_npu and CANN go together.

The first three numbers of torch_npu's version are those of the torch that it is built for; its
wheels say so themselves (torch_npu 2.14.0 on PyPI requires torch==2.14.0.*). Which CANN a torch_npu
is made with stands in COMPATIBILITY.md of its repository (github.com/Ascend/pytorch), and for CANN
9.2 in the release notes of TorchNPU 26.2.0; these name CANN 8.5 to 9.2 compatible with every
torch_npu made with one of them.
"""

from __future__ import annotations

import re

_MADE_WITH = {
    "9.2.0": "2.7.1.post11 2.9.0.post9 2.10.0.post7 2.11.0.post3 2.12.0.post3 2.13.0 2.14.0",
    "9.1.0": "2.7.1.post8 2.9.0.post6 2.10.0.post4 2.11.0 2.12.0",
    "9.0.0": "2.7.1.post4 2.8.0.post4 2.9.0.post2",
    "8.5.0": "2.6.0.post5 2.7.1.post2 2.8.0.post2 2.9.0",
    "8.3.RC1": "2.1.0.post17 2.6.0.post3 2.7.1 2.8.0",
    "8.2.RC1": "2.1.0.post13 2.5.1.post1 2.6.0",
    "8.1.RC1": "2.1.0.post12 2.3.1.post6 2.4.0.post4 2.5.1",
    "8.0.0": "2.1.0.post10 2.3.1.post4 2.4.0.post2",
    "8.0.RC3": "2.1.0.post8 2.3.1.post2 2.4.0",
    "8.0.RC2": "2.1.0.post6 2.2.0.post2 2.3.1",
    "8.0.RC1": "2.1.0.post4 2.2.0",
    "7.0.0": "2.1.0",
}
_COMPATIBLE = ((8, 5), (9, 2))
"""The first and the last CANN of those that go with one another's torch_npu."""

_CANN_OF = {version: cann for cann, versions in _MADE_WITH.items() for version in versions.split()}

_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:\.?post(\d+))?")


def release(version: str) -> str:
    """Return the three numbers that a version of torch or torch_npu begins with, "" without."""
    found = _VERSION.match(version)
    return ".".join(found.groups()[:3]) if found else ""


def newest_npu(torch_release: str) -> str:
    """Return the newest torch_npu known for a release of torch, "" where there is none."""
    known = [version for version in _CANN_OF if release(version) == torch_release]
    return max(known, key=_key, default="")


def newest_pair() -> tuple[str, str]:
    """Return the newest torch for which there is a torch_npu, and that torch_npu."""
    npu = max(_CANN_OF, key=_key)
    return release(npu), npu


def cann(npu_version: str) -> str:
    """Return the CANN that a torch_npu is made with, "" where that isn't known.

    One that isn't listed is taken for a repair of the last one before it, of the same torch.
    """
    known = [
        v for v in _CANN_OF if release(v) == release(npu_version) and _key(v) <= _key(npu_version)
    ]
    return _CANN_OF[max(known, key=_key)] if known else ""


def compare(there: str, wanted: str) -> str:
    """Say how a CANN stands to the one that is wanted.

    Returns:
        "same" (but for the last number), "compatible", "older", "newer", or "" where one of the
        two isn't a version.
    """
    mine, other = _cann_key(there), _cann_key(wanted)
    if not mine or not other:
        return ""
    if mine[:2] == other[:2] and (mine == other or mine[2] == other[2] == 0):
        return "same"
    first, last = _COMPATIBLE
    if first <= mine[:2] <= last and first <= other[:2] <= last:
        return "compatible"
    return "older" if mine < other else "newer"


def _key(version: str) -> tuple[int, ...]:
    found = _VERSION.match(version)
    return tuple(int(number or 0) for number in found.groups()) if found else ()


def _cann_key(version: str) -> tuple[int, ...]:
    """Return numbers in the order of the versions: 8.0.RC3 comes before 8.0.0 and 8.0.1."""
    found = re.match(r"(\d+)\.(\d+)(?:\.(?:RC(\d+)|\d+))?", version, re.I)
    if not found:
        return ()
    candidate = found[3]
    return int(found[1]), int(found[2]), -1 if candidate else 0, int(candidate or 0)
