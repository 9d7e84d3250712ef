"""`porter verify`: does the port train on each backend as it did."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from porter import config
from porter.commands import examples
from porter.errors import Refused

_BACKENDS = ("cpu", "cuda", "npu", "cuda-emulated", "npu-emulated")
_INTERRUPTED = 130


@click.command(
    short_help="Run a training command on several backends and compare.",
    epilog=examples(
        "porter verify . -- python train.py --epochs 1",
        "porter verify . --backend npu -- torchrun --nproc-per-node=2 train.py",
        "porter verify . --backend npu-emulated -- python train.py --out {out}",
        "porter verify port --reference original --backend cuda -- python train.py",
        "porter verify . --steps 20 --report verify.html -- accelerate launch train.py",
    )
    + "\n\nExit codes: 0 all agree; 1 a mismatch; 2 something could not run, so that nothing is "
    "proven.",
)
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--backend",
    "backends",
    multiple=True,
    type=click.Choice(_BACKENDS),
    help="Where to run; may be given several times. By default every accelerator that is here, "
    "beside the CPU. The emulated devices live on the CPU: they need a C++ compiler, and say "
    "nothing of a real device's speed.",
)
@click.option(
    "--reference",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Compare with the original repository, in DIR, in place of the port on the CPU: on CUDA "
    "bit for bit.",
)
@click.option(
    "--reference-backend",
    type=click.Choice(_BACKENDS),
    help="Where the original runs; by default on cuda or cuda-emulated.",
)
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    metavar="N",
    help="End each run after N steps of its optimizers.",
)
@click.option(
    "--rtol",
    type=click.FloatRange(min=0),
    metavar="X",
    help="The relative difference of losses to allow; by default 1e-3 in float32, 2e-2 in float16, "
    "5e-2 in bfloat16.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="S",
    help="End a run after S seconds.",
)
@click.option(
    "--devices",
    type=click.IntRange(min=1, max=64),
    metavar="N",
    help="How many devices an emulated machine has (1).",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    metavar="FILE",
    help="Write all that was seen; - for stdout, in place of the table.",
)
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.html",
    help="Write a page with loss curves.",
)
def verify(
    path: Path,
    command: tuple[str, ...],
    json_file: Path | None,
    report: Path | None,
    **given: Any,
) -> None:
    """Run COMMAND in the folder PATH on several backends, watch it, and compare.

    The code under PATH is the port; COMMAND trains with it, unchanged, and takes PATH as working
    directory. Words such as {out} and {port} become a folder and a free port of each run's own.
    Losses, steps, learning rates and gradients are compared with the CPU's or with --reference;
    and it is seen whether the parameters are on the device, and change, and whether the port still
    calls torch.cuda. Without COMMAND, the one in [tool.porter.verify] is run; the options can stand
    there as well.
    """
    if importlib.util.find_spec("rich") is None:
        raise Refused("porter verify needs more packages: pip install 'porter-codemod[verify]'")
    from porter.pages import html, output
    from porter.verify.terminal import Progress, show
    from porter.verify.verify import Request
    from porter.verify.verify import verify as run_verify

    options = _with_configured(path, command, given)
    for target in filter(None, (json_file, report)):
        if str(target) != "-":
            output.require(target)
    if report is not None:
        html.require_plotly()
    progress = Progress()
    with _ending_like_ctrl_c():
        outcome = run_verify(Request(path=path, **options), progress)
    progress.clear()
    document = outcome.to_json()
    if json_file is not None:
        text = json.dumps(document, indent=1, allow_nan=False) + "\n"
        if str(json_file) == "-":
            click.echo(text, nl=False)
        else:
            output.write(json_file, text)
    if str(json_file) != "-":
        show(outcome, sys.stdout)
    if report is not None:
        from porter.pages.verify_page import verify_page

        output.write(report, verify_page(document))
    interrupted = any(run.status == "interrupted" for run in outcome.runs)
    sys.exit(_INTERRUPTED if interrupted else outcome.exit_code)


def _with_configured(path: Path, command: tuple[str, ...], given: dict[str, Any]) -> dict[str, Any]:
    """Return the options, where they aren't given as pyproject.toml has them."""
    configured = config.load(path)
    table = dict(configured.verify)
    if "backend" in table:
        table["backends"] = table.pop("backend")
    for backend in (*table.get("backends", ()), *filter(None, [table.get("reference_backend")])):
        if backend not in _BACKENDS:
            known = ", ".join(_BACKENDS)
            raise Refused(f"{configured.path}: no backend is called {backend!r}; known are {known}")
    if configured.path is not None and "reference" in table:
        table["reference"] = configured.path.parent / table["reference"]
        if not table["reference"].is_dir():
            raise Refused(f"{configured.path}: reference: there is no folder {table['reference']}")
    options = {key: value for key, value in given.items() if value not in (None, ())}
    options = {**table, **options}
    if command:
        options["command"] = command
    if not options.get("command"):
        raise Refused(
            "no command: porter verify PATH -- python train.py ..., or command = [...] in "
            "[tool.porter.verify] of pyproject.toml"
        )
    return options


@contextlib.contextmanager
def _ending_like_ctrl_c() -> Iterator[None]:
    """Have what ends porter end the command that it runs as well."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    numbers = [signal.SIGTERM, *filter(None, [getattr(signal, "SIGHUP", None)])]
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
