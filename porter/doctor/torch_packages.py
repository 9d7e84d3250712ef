"""torch and torch_npu: their versions, whether they fit each other, and whether they import."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from . import pairs
from .entry import Section
from .probing import Said, installed

_DRIVER_MEND = (
    "the driver's libraries aren't found: install the driver; in a container mount "
    "/usr/local/Ascend/driver, and add its lib64/driver to LD_LIBRARY_PATH"
)
_CANN_MEND = "source CANN's set_env.sh in this shell; see CANN above"


def examine(said: Said) -> Section:
    """Judge what the probe said of the packages."""
    section = Section("torch")
    torch, npu = installed("torch"), installed("torch_npu")
    torch = said.fact("torch", "version") or torch
    section.facts.update(torch=torch or None, torch_npu=npu or None, **said.facts.get("torch", {}))
    error = said.error("torch")
    if not torch:
        section.problem(
            "torch", f"isn't installed for {sys.executable}", "pip install 'porter-codemod[verify]'"
        )
        return section
    if error:
        package = "torch_npu" if npu else "torch"  # which torch may have imported by itself
        section.problem(
            "torch", f"{torch} can't be imported: {error}", _hint(error, torch, package)
        )
    else:
        built = said.fact("torch", "cuda")
        made = f"built for CUDA {built}" if built else "built without CUDA"
        made = f"built for ROCm {said.fact('torch', 'hip')}" if said.fact("torch", "hip") else made
        section.ok("torch", f"{torch}, {made}, {Path(said.fact('torch', 'file')).parent}")
    _judge_npu(section, said, torch, said.fact("torch_npu", "version") or npu)
    if said.fact("transfer_to_npu", "active"):
        section.problem(
            "transfer_to_npu",
            "is active: it replaces torch.cuda by torch.npu, so it isn't the port that would run",
            "drop `import torch_npu.contrib.transfer_to_npu` from sitecustomize, usercustomize or "
            "the .pth file that has it",
        )
    return section


def _judge_npu(section: Section, said: Said, torch: str, npu: str) -> None:
    error = said.error("torch_npu")
    if not npu and not error:
        section.absent("torch_npu", "isn't installed")
        return
    section.facts["torch_npu"] = npu or None
    fits = not npu or pairs.release(npu) == pairs.release(torch)
    if not fits:
        theirs = pairs.newest_npu(pairs.release(torch))
        mends = [f"pip install torch=={pairs.release(npu)}"]
        mends += [f"pip install torch_npu=={theirs}"] if theirs else []
        section.problem(
            "pair",
            f"torch_npu {npu} is made for torch {pairs.release(npu)}, and torch is {torch}",
            " or ".join(mends),
        )
    if error:
        section.problem(
            "torch_npu",
            f"{npu or ''} can't be imported: {error}".strip(),
            _hint(error, torch, "torch_npu"),
        )
    elif said.fact("torch_npu", "version"):
        goes = " goes with this torch" if fits else ""
        where = Path(said.fact("torch_npu", "file")).parent
        section.ok("torch_npu", f"{npu}{goes}, {where}")


def _hint(error: str, torch: str, package: str) -> str:
    """Return what to do about an error of an import."""
    missing = re.search(r"No module named '([\w.]+)'", error)
    if missing:
        names = {"yaml": "pyyaml"}
        return f"pip install {names.get(missing[1], missing[1])}"
    if "libascend_hal" in error:
        return _DRIVER_MEND
    if re.search(r"lib\w+\.so\S*: cannot open shared object", error) and package == "torch_npu":
        return _CANN_MEND
    if "undefined symbol" in error and package == "torch_npu":
        theirs = pairs.newest_npu(pairs.release(torch))
        pair = (
            f"torch=={pairs.release(torch)} torch_npu=={theirs}" if theirs else "a pair that fits"
        )
        return f"the two don't fit each other: pip install {pair}"
    if "answer within" in error:
        return "try again with --timeout; where it hangs, see the driver"
    return f'python -c "import {package}" shows all of it; then install {package} anew'
