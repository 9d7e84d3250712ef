"""Classes and functions that configuration names, to be imported by whoever reads it."""

from __future__ import annotations

import re

from porter.configs.rule import Answer, Manual, config_rule
from porter.configs.subjects import Setting
from porter_rules.cuda_packages import CUDA_ONLY

_KEY = re.compile(r"_target_|target|class_path|class|cls|class_name|type|module|callable|fn|func")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_MIRRORED = "torch.cuda."


@config_rule(
    "PTR811",
    on=Setting,
    manual=[
        ("train.yaml", "scaler:\n  _target_: torch.cuda.amp.GradScaler\n"),
        ("optim.yaml", "_target_: apex.optimizers.FusedAdam\nlr: 0.1\n"),
        ("cli.yaml", "optimizer:\n  class_path: bitsandbytes.optim.AdamW8bit\n"),
    ],
    valid=[
        ("optim.yaml", "_target_: torch.optim.AdamW  # not apex\n"),
        ("train.yaml", "package: apex.optimizers\n"),
    ],
)
def config_target(setting: Setting) -> Answer:
    """Point out classes of torch.cuda and of CUDA-only packages that configuration names.

    Hydra's `_target_`, Lightning's `class_path` and their like are imports: they fail where the
    package is missing. The shim has torch.cuda's portable names, so `torch.cuda.amp.GradScaler`
    can be `porter_runtime.GradScaler`, or the vendored copy's; since the file can't tell which,
    it is left to a person, as are the classes of other packages, whose arguments differ.
    """
    value = setting.value.strip()
    if not _KEY.fullmatch(setting.key) or not _DOTTED.fullmatch(value):
        return None
    if value.startswith(_MIRRORED):
        return Manual(
            f"\"{value}\" is CUDA's: write the shim's {value.rpartition('.')[2]} instead, with the "
            "module that the ported code imports it from (porter_runtime, or your vendored copy)"
        )
    package = value.partition(".")[0]
    if package not in CUDA_ONLY:
        return None
    return Manual(
        f'"{value}" comes from {package}, which is CUDA\'s: use in a copy for Ascend '
        f"{CUDA_ONLY[package]}"
    )
