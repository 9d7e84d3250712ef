"""Puts the watching together in a process that has imported torch."""

from __future__ import annotations

import atexit
import functools
import itertools
import multiprocessing.util
import os
import sys
import time
import traceback
from typing import Any, Dict, List, Optional

import torch

from .budget import Budget
from .device import describe_device, process_group
from .frames import Owners
from .journal import Journal
from .losses import Losses
from .settings import Settings
from .steps import Steps
from .trap import Trap


class Watching:
    """All that watches in this process."""

    def __init__(self, settings: Settings, journal: Journal) -> None:
        self._journal = journal
        self._owners = Owners(settings.root)
        self._settings = settings
        self._autocast: List[str] = []
        self._user_code = False
        self._budget = Budget()
        self._losses = Losses(journal, self._budget)
        self._steps = Steps(journal, self._budget, self._losses, settings.steps, self._write_state)
        self._end = journal.guarded(self._write_end)
        self._scalers: Any = set()

    def install(self) -> None:
        """Begin: with hooks of torch where there are some, by wrapping where there are none."""
        if self._settings.trap:
            Trap(self._journal, self._owners).install()
        self._losses.install()
        self._steps.install()
        self._watch_scalers()
        self._watch_autocast()
        self._watch_exceptions()
        self._write_process()
        atexit.register(self._end)
        os.register_at_fork(after_in_child=self._after_fork)
        # A forked child of multiprocessing ends without atexit, and drops finalizers it inherits.
        multiprocessing.util.register_after_fork(self, Watching._finish_with_multiprocessing)

    def _watch_exceptions(self) -> None:
        before = sys.excepthook
        note = self._journal.guarded(self._note_exception)

        def hook(kind: Any, error: BaseException, trace: Any) -> None:
            note(kind, error, trace)
            before(kind, error, trace)

        sys.excepthook = hook

    def _note_exception(self, kind: Any, error: BaseException, trace: Any) -> None:
        lines = str(error).splitlines() or [""]
        text = f"{kind.__name__}: {lines[0]}" if lines[0] else kind.__name__
        for frame in reversed(traceback.extract_tb(trace)):
            if self._owners.owns(frame.filename):
                text += f" ({self._owners.relative(frame.filename)}:{frame.lineno})"
                break
        self._journal.write("error", text=text, time=time.time())

    def _finish_with_multiprocessing(self) -> None:
        multiprocessing.util.Finalize(None, self._end, exitpriority=0)

    def _after_fork(self) -> None:
        for part in (self._budget, self._losses, self._steps):
            part.forget()
        self._autocast = []

    def _watch_scalers(self) -> None:
        common: Any = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler
        original = common.__init__
        watch = self._journal.guarded(self._watch_scaler_classes)

        @functools.wraps(original)
        def init(scaler: Any, *args: Any, **kwargs: Any) -> None:
            watch(type(scaler))
            original(scaler, *args, **kwargs)

        common.__init__ = init

    def _watch_scaler_classes(self, kind: type) -> None:
        """Wrap a class and its bases, of which any may bring its own `scale` and `step`."""
        for each in kind.__mro__:
            if each not in self._scalers:
                self._scalers.add(each)
                if "scale" in vars(each):
                    self._losses.watch_scaler(each)
                if "step" in vars(each):
                    self._steps.watch_scaler(each)

    def _watch_autocast(self) -> None:
        kind: Any = torch.autocast
        original = kind.__enter__
        note = self._journal.guarded(self._note_autocast)

        @functools.wraps(original)
        def enter(region: Any) -> Any:
            note(region)
            return original(region)

        kind.__enter__ = enter

    def _note_autocast(self, region: Any) -> None:
        if region._enabled and torch.is_grad_enabled():
            dtype = str(region.fast_dtype).replace("torch.", "")
            if dtype not in self._autocast:
                self._autocast.append(dtype)

    def _write_process(self) -> None:
        variables = os.environ.get
        self._journal.write(
            "process",
            rank=int(variables("RANK") or 0),
            run=variables("TORCHELASTIC_RUN_ID"),
            restart=int(variables("TORCHELASTIC_RESTART_COUNT") or 0),
            python=sys.version.split()[0],
            torch=str(torch.__version__),
        )

    def _write_state(self) -> None:
        placements = [held.describe() for held in self._steps.held.values()]
        if not placements:
            return
        trained = set().union(*(held.ids() for held in self._steps.held.values()))
        untrained = self._losses.untrained(trained)
        device = _most_used(placements)
        self._journal.write(
            "state",
            placements=[{**placement, "untrained": untrained} for placement in placements],
            digests={
                f"{held.name}, step {count}": digest
                for held in self._steps.held.values()
                for count, digest in held.digests.items()
            },
            autocast=self._autocast,
            loss_scaled=self._losses.scaled,
            user_code=self._runs_user_code(),
            seed=torch.initial_seed(),
            transfer_to_npu="torch_npu.contrib.transfer_to_npu" in sys.modules,
            **process_group(),
            **describe_device(device),
        )

    def _write_end(self) -> None:
        self._steps.flush()
        self._write_state()

    def _runs_user_code(self) -> bool:
        if not self._user_code:
            # A runner of notebooks imports none of the user's modules; others do, as the last ones.
            modules = [*sys.modules.values()][::-1]
            files = (str(getattr(module, "__file__", None)) for module in modules)
            absolute = (file for file in files if os.path.isabs(file))  # torch.ops: "_ops.py"
            self._user_code = any(map(self._owners.owns, itertools.chain(_callers(), absolute)))
        return self._user_code


def _callers() -> List[str]:
    files: List[str] = []
    frame: Any = sys._getframe()
    while frame is not None:
        files.append(frame.f_code.co_filename)
        frame = frame.f_back
    return files


def _most_used(placements: List[Dict[str, Any]]) -> Optional[torch.device]:
    elements: Dict[str, int] = {}
    for placement in placements:
        for device, count in placement["elements_by_device"].items():
            elements[device] = elements.get(device, 0) + count
    return torch.device(max(elements, key=lambda device: elements[device])) if elements else None


def install(settings: Settings) -> None:
    """Begin to watch. What fails in here is written down."""
    journal = Journal(settings.journal)
    journal.guarded(lambda: Watching(settings, journal).install())()
