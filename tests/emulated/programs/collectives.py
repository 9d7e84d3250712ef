"""Every collective that the process group carries, on two processes."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist

from tests.emulated.device import DEVICE, module, process_group

dist.init_process_group()  # the default for device tensors is its own
rank = dist.get_rank()
module.set_device(rank)
device = torch.device(DEVICE, rank)


def tensor(*values: float) -> torch.Tensor:
    return torch.tensor(values, device=device)


mine = tensor(rank + 1.0)
for op, figure in [("SUM", 3), ("PRODUCT", 2), ("MIN", 1), ("MAX", 2), ("AVG", 1.5)]:
    value = mine.clone()
    dist.all_reduce(value, op=getattr(dist.ReduceOp, op))
    assert value.item() == figure, op

value = mine.clone()
dist.broadcast(value, src=1)
assert value.item() == 2
value = mine.clone()
dist.reduce(value, dst=0)
assert value.item() == (3 if rank == 0 else value.item())
gathered = [torch.zeros_like(mine) for _ in range(2)]
dist.all_gather(gathered, mine)
assert [each.item() for each in gathered] == [1, 2]
dist.gather(mine, gathered if rank == 0 else None, dst=0)
received = torch.zeros_like(mine)
dist.scatter(received, [tensor(5.0), tensor(6.0)] if rank == 0 else None, src=0)
assert received.item() == 5 + rank
flat = torch.zeros(2, device=device)
dist.all_gather_into_tensor(flat, mine)
assert flat.tolist() == [1, 2]
swapped = torch.zeros(2, device=device)
dist.all_to_all_single(swapped, tensor(10.0 * rank, 10.0 * rank + 1))
assert swapped.tolist() == [rank, 10 + rank]
if rank == 0:
    dist.send(tensor(9.0), 1)
else:
    dist.recv(received, 0)
    assert received.item() == 9


def both() -> torch.Tensor:
    return torch.zeros(2, device=device)


def outputs() -> list[torch.Tensor]:
    return list(torch.zeros(2, 1, device=device))


def asynchronous() -> list[tuple[str, torch.Tensor, dist.Work, list[float]]]:
    """Starts collectives; each comes with its output and what that must become."""
    reduced, averaged, sent = mine.clone(), mine.clone(), mine.clone()
    gathered, flat, part, mean, swapped = outputs(), both(), both()[:1], both()[:1], both()
    pair = tensor(1.0, 2.0)
    scattered = both()[:1]
    return [
        ("all_reduce", reduced, dist.all_reduce(reduced, async_op=True), [3]),
        (
            "averaging all_reduce",
            averaged,
            dist.all_reduce(averaged, op=dist.ReduceOp.AVG, async_op=True),
            [1.5],
        ),
        ("broadcast", sent, dist.broadcast(sent, src=1, async_op=True), [2]),
        ("all_gather", gathered[1], dist.all_gather(gathered, mine, async_op=True), [2]),
        (
            "all_gather_into_tensor",
            flat,
            dist.all_gather_into_tensor(flat, mine, async_op=True),
            [1, 2],
        ),
        (
            "reduce_scatter_tensor",
            part,
            dist.reduce_scatter_tensor(part, pair, async_op=True),
            [2.0 * (rank + 1)],
        ),
        (
            "averaging reduce_scatter_tensor",
            mean,
            dist.reduce_scatter_tensor(mean, pair, op=dist.ReduceOp.AVG, async_op=True),
            [rank + 1.0],
        ),
        (
            "reduce_scatter",
            scattered,
            dist.reduce_scatter(scattered, list(torch.split(pair, 1)), async_op=True),
            [2.0 * (rank + 1)],
        ),
        (
            "all_to_all_single",
            swapped,
            dist.all_to_all_single(swapped, tensor(10.0 * rank, 10.0 * rank + 1), async_op=True),
            [rank, 10.0 + rank],
        ),
    ]


for name, output, work, expected in asynchronous():
    work.wait()
    assert output.tolist() == expected, name
    output.zero_()
    work.wait()
    assert output.count_nonzero() == 0, f"{name} wrote again at a second wait"
for name, output, work, expected in asynchronous():
    future = work.get_future()
    future.wait()
    assert output.tolist() == expected, f"{name} by its future"
    assert all(each.device == device for each in future.value()), name

objects: list[object] = [None, None]
dist.all_gather_object(objects, {"rank": rank})
assert objects == [{"rank": 0}, {"rank": 1}]
names = [f"from {rank}"]
dist.broadcast_object_list(names, src=1)
assert names == ["from 1"]
dist.barrier()

only_own = dist.new_group(backend=process_group)
assert dist.get_backend(only_own) == process_group
with pytest.raises(RuntimeError, match="cpu"):
    dist.all_reduce(torch.ones(1), group=only_own)
dist.destroy_process_group()
print("done")
