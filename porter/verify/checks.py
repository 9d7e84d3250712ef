"""What a run tells by itself, with a look at the reference where that decides."""

from __future__ import annotations

from collections.abc import Iterator

from porter.verify.outcome import Finding, Level, Placement, Process, Run

_COLLECTIVES = {"npu": "hccl", "cuda": "nccl"}


def check(run: Run, reference: Run | None) -> Iterator[Finding]:
    """Yield what is wrong with a run of the port, whatever its losses are."""
    yield from _trapped(run)
    if run.transfer_to_npu:
        yield Finding(
            "transfer-to-npu",
            "warning",
            "torch_npu.contrib.transfer_to_npu is active and turns CUDA calls into NPU calls: it "
            "is not the port that was tested. Remove its import",
            run.name,
        )
    if run.restarts:
        yield Finding(
            "restarted", "note", f"the launcher restarted it {run.restarts} time(s)", run.name
        )
    for process in run.processes:
        other = counterpart(process, reference)
        for found in (
            *_on_device(run, process, other),
            *_parameters(process, other),
            *_non_finite(process, other),
            *_precision(run, process, other),
            *_collectives(run, process, other),
            *_watching(process),
        ):
            found.run = run.name
            found.rank = process.rank
            yield found
    yield from _ranks(run, reference)


def check_reference(run: Run) -> Iterator[Finding]:
    """Yield what makes the original no reference: above all that it trained elsewhere."""
    for process in run.processes:
        for found in _on_device(run, process, None):
            if found.level == "error":
                found.run, found.rank = run.name, process.rank
                yield found


def counterpart(process: Process, reference: Run | None) -> Process | None:
    """Return the reference's process of the same rank and stage."""
    for other in reference.processes if reference else ():
        if (other.stage, other.rank) == (process.stage, process.rank):
            return other
    return None


def _trapped(run: Run) -> Iterator[Finding]:
    for trapped in run.trapped:
        if trapped.kind == "asked":
            level: Level = "warning"
            text = f"it asks {trapped.name}: without CUDA it may go on without an accelerator"
        else:
            level = "error"
            text = f"it still uses {trapped.name}: that has to go through the shim"
        yield Finding(
            "trap" if level == "error" else "asked",
            level,
            text,
            run.name,
            path=trapped.path,
            line=trapped.line,
        )


def _on_device(run: Run, process: Process, other: Process | None) -> Iterator[Finding]:
    kind = run.device_type
    for placement in process.placements:
        share = _share(placement.elements_by_device, kind)
        if share is None:
            continue
        there = ", ".join(placement.elements_by_device)
        if share == 0:
            yield Finding(
                "trained-on-cpu" if there == "cpu" else "trained-elsewhere",
                "error",
                f"it trained on {there}, silently: no parameter of {placement.optimizer} is on "
                f"the {kind}",
                optimizer=placement.optimizer,
            )
        elif share < 1:
            before = _reference_share(placement, other)
            yield Finding(
                "partly-elsewhere",
                "error" if before is not None and before > share else "warning",
                f"only {share:.0%} of the parameters of {placement.optimizer} are on the {kind} "
                f"(they are on {there})",
                optimizer=placement.optimizer,
            )
        state = _share(placement.state_by_device, kind)
        if share and state is not None and state < share:
            yield Finding(
                "state-elsewhere",
                "warning",
                f"{state:.0%} of the state of {placement.optimizer} is on the {kind}, the rest on "
                f"{', '.join(d for d in placement.state_by_device if not d.startswith(kind))}",
                optimizer=placement.optimizer,
            )


def _share(by_device: dict[str, int], kind: str) -> float | None:
    total = sum(by_device.values())
    on_kind = sum(n for device, n in by_device.items() if device.partition(":")[0] == kind)
    return on_kind / total if total else None


def _reference_share(placement: Placement, other: Process | None) -> float | None:
    """Return the share that the reference had on its accelerator; None where that is the CPU."""
    before = _of(other, placement.optimizer)
    if before is None or other is None or other.device in (None, "cpu"):
        return None
    return _share(before.elements_by_device, str(other.device).partition(":")[0])


def _of(process: Process | None, optimizer: str) -> Placement | None:
    found = [p for p in process.placements if p.optimizer == optimizer] if process else []
    return found[0] if found else None


def _parameters(process: Process, other: Process | None) -> Iterator[Finding]:
    for placement in process.placements:
        name, count = placement.optimizer, placement.parameters
        curve = next(curve for curve in process.curves if curve.optimizer == name)
        made = len(curve.loss) - len(curve.skipped)
        if not count or (made and not any(rate != 0 for rate in curve.learning_rate)):
            continue
        before = _of(other, name)
        if not made:
            text = f"the GradScaler skipped all {len(curve.loss)} steps of {name}"
            yield Finding("all-skipped", "error", text, optimizer=name)
        elif placement.with_gradient < (before.with_gradient if before else 1):
            none = count - placement.with_gradient
            trains = (
                f" The loss depends on {placement.untrained} parameters that no optimizer has:"
                " was it made before the model was moved, or of a copy?"
                if placement.untrained
                else ""
            )
            yield Finding(
                "stale-parameters",
                "error",
                f"{name} steps over stale parameters: no gradient ever reached {none} of its "
                f"{count}.{trains}",
                optimizer=name,
            )
        elif placement.changed < (before.changed if before else 1):
            yield Finding(
                "unchanged",
                "error",
                f"{count - placement.changed} of {count} parameters of {name} never changed"
                + (f"; {before.changed} did in the reference" if before else ""),
                optimizer=name,
            )


def _non_finite(process: Process, other: Process | None) -> Iterator[Finding]:
    first = process.first_non_finite
    if first is None:
        return
    before = other.first_non_finite if other else None
    same = before is not None and before.step == first.step
    yield Finding(
        "non-finite",
        "warning" if same else "error",
        f"the {first.what} is {first.value} at step {first.step + 1} of {first.optimizer}"
        + (", in the reference too" if same else ""),
        optimizer=first.optimizer,
        step=first.step,
    )


def _precision(run: Run, process: Process, other: Process | None) -> Iterator[Finding]:
    if run.device_type == "cpu" or not _unscaled(process):
        return
    same = other is not None and other.device not in (None, "cpu") and _unscaled(other)
    yield Finding(
        "unscaled-float16",
        "note" if same else "error",
        "float16 without loss scaling: gradients below 6e-8 become 0. Use a GradScaler"
        + (" (the reference has none, either)" if same else ""),
    )


def _unscaled(process: Process) -> bool:
    dtypes = {dtype for placement in process.placements for dtype in placement.dtypes}
    return "float16" in dtypes.union(process.autocast) and not process.loss_scaled


def _collectives(run: Run, process: Process, other: Process | None) -> Iterator[Finding]:
    meant, used = _COLLECTIVES.get(run.device_type), process.process_group
    if meant is None or used is None or meant in used or process.world_size < 2:
        return
    if other is not None and other.device not in (None, "cpu") and other.process_group == used:
        return
    yield Finding(
        "wrong-backend",
        "error",
        f"the process group runs over {used}, where {meant} was meant",
    )


def _watching(process: Process) -> Iterator[Finding]:
    if process.curves and all(loss is None for curve in process.curves for loss in curve.loss):
        yield Finding(
            "no-loss", "note", "no loss was seen: no backward pass began at a single number"
        )
    for fault in process.faults:
        yield Finding("watching", "note", f"porter's own watching failed: {fault}")


def _ranks(run: Run, reference: Run | None) -> Iterator[Finding]:
    """Yield ranks whose parameters go away from rank 0's, where the reference's don't."""
    if reference is None or reference is run or _first_split(reference):
        return
    for process, (optimizer, step) in _first_split(run):
        yield Finding(
            "diverged",
            "error",
            f"rank {process.rank} diverges from rank 0: after step {step} of {optimizer} "
            "their parameters differ, and the reference's don't",
            run.name,
            process.rank,
            optimizer,
            step - 1,
        )


def _first_split(run: Run) -> list[tuple[Process, tuple[str, int]]]:
    """Return processes with other parameters than the first of their stage, and from when on."""
    firsts: dict[int, Process] = {}
    split = []
    for process in run.processes:
        first = firsts.setdefault(process.stage, process)
        for key, digest in process.same_weights.items():
            if first.same_weights.get(key, digest) != digest:
                optimizer, _, step = key.rpartition(", step ")
                split.append((process, (optimizer, int(step))))
                break
    return split
