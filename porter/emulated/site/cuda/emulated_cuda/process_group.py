"""The process group backend ``nccl``, carried by gloo."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from .extension import _C

TIMEOUT = timedelta(minutes=10)


class _IsNamedNccl(type):
    """The instances are C++ objects, which Python can't make instances of a class of its own."""

    def __instancecheck__(cls, instance: object) -> bool:
        from torch._C._distributed_c10d import Backend

        return isinstance(instance, Backend) and instance.name() == "nccl"


class ProcessGroupNCCL(metaclass=_IsNamedNccl):
    """Makes a backend that carries CUDA tensors, and knows one."""

    class Options:
        """What may be asked of NCCL; only the timeout counts here."""

        def __init__(self, is_high_priority_stream: bool = False) -> None:
            self.is_high_priority_stream = is_high_priority_stream
            self._timeout = TIMEOUT

    def __new__(cls, store: Any, rank: int, size: int, options: Any) -> Any:
        """Returns a C++ backend over gloo."""
        from torch._C._distributed_c10d import ProcessGroupGloo

        return _C.process_group(ProcessGroupGloo(store, rank, size, timeout=options._timeout))


def install() -> None:
    """Gives ``torch._C._distributed_c10d`` what a build with NCCL has there."""
    from torch._C import _distributed_c10d
    from torch.distributed import constants

    bindings: Any = _distributed_c10d
    bindings.ProcessGroupNCCL = ProcessGroupNCCL
    constants.default_pg_nccl_timeout = TIMEOUT
