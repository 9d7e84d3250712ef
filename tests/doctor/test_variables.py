from __future__ import annotations

import socket
from pathlib import Path

import pytest

from porter.doctor import Entry, State, variables


def judged(npu: bool = True, /, **environment: str) -> dict[str, Entry]:
    section = variables.examine({"HOME": "/", **environment}, npu=npu)
    assert section.facts["variables"] == environment
    return {entry.name: entry for entry in section.entries}


@pytest.mark.parametrize(
    ("value", "state", "mend"),
    [
        ("0", State.OK, ""),
        ("0,1,10", State.OK, ""),
        ("3,2", State.PROBLEM, "export ASCEND_RT_VISIBLE_DEVICES=2,3"),
        ("1,1", State.PROBLEM, "export ASCEND_RT_VISIBLE_DEVICES=1"),
        ("0, 1", State.PROBLEM, "export ASCEND_RT_VISIBLE_DEVICES=0,1"),
        ("0-3", State.PROBLEM, "export ASCEND_RT_VISIBLE_DEVICES=0,1"),
        ("0,", State.PROBLEM, "export ASCEND_RT_VISIBLE_DEVICES=0,1"),
        ("", State.NOTE, "unset it to see them"),
    ],
)
def test_visible_devices(value: str, state: State, mend: str) -> None:
    entry = judged(ASCEND_RT_VISIBLE_DEVICES=value)["ASCEND_RT_VISIBLE_DEVICES"]
    assert (entry.state, entry.mend) == (state, mend)


@pytest.mark.parametrize(
    ("value", "left"), [(None, 8), ("0,1", 2), ("", 0), ("1,0", 0), ("0,1,2,3,4,5,6,7,8", 8)]
)
def test_how_many_npus_stay_visible(value: str | None, left: int) -> None:
    environment = {} if value is None else {"ASCEND_RT_VISIBLE_DEVICES": value}
    assert variables.visible_npus(environment, 8) == left


@pytest.mark.parametrize(
    ("name", "value", "state"),
    [
        ("HCCL_IF_IP", "10.0.0.1", State.OK),
        ("HCCL_IF_IP", "fe80::1", State.OK),
        ("HCCL_IF_IP", "node-1", State.PROBLEM),
        ("HCCL_SOCKET_IFNAME", "no-such-card", State.PROBLEM),
        ("HCCL_SOCKET_IFNAME", "=no-such-card", State.PROBLEM),
        ("HCCL_SOCKET_IFNAME", "^no-such-card", State.OK),
        ("HCCL_CONNECT_TIMEOUT", "1200", State.OK),
        ("HCCL_CONNECT_TIMEOUT", "60", State.PROBLEM),
        ("HCCL_CONNECT_TIMEOUT", "7201", State.PROBLEM),
        ("HCCL_CONNECT_TIMEOUT", "10 min", State.PROBLEM),
        ("HCCL_WHITELIST_DISABLE", "1", State.OK),
        ("HCCL_WHITELIST_DISABLE", "0", State.PROBLEM),
        ("HCCL_WHITELIST_FILE", "/nonexistent/list.json", State.PROBLEM),
        ("RANK_TABLE_FILE", "/nonexistent/table.json", State.PROBLEM),
        ("HCCL_BUFFSIZE", "200", State.OK),
        ("ASCEND_LAUNCH_BLOCKING", "1", State.NOTE),
        ("ASCEND_LAUNCH_BLOCKING", "0", State.OK),
        ("TORCH_DEVICE_BACKEND_AUTOLOAD", "0", State.NOTE),
        ("CUDA_VISIBLE_DEVICES", "0,1", State.NOTE),
        ("PORTER_DEVICE", "npu", State.OK),
    ],
)
def test_a_value_is_judged(name: str, value: str, state: State) -> None:
    entry = judged(**{name: value})[name]
    assert entry.state is state
    assert bool(entry.mend) or state is not State.PROBLEM


def test_an_interface_of_this_host_is_taken_by_name_or_prefix() -> None:
    name = socket.if_nameindex()[0][1]
    for value in (f"={name}", f"=x,{name}", name[:1]):
        assert judged(HCCL_SOCKET_IFNAME=value)["HCCL_SOCKET_IFNAME"].state is State.OK
    wrong = judged(HCCL_SOCKET_IFNAME=f"={name}x")["HCCL_SOCKET_IFNAME"]
    assert wrong.state is State.PROBLEM
    assert name in wrong.mend


def test_a_list_of_hosts_that_is_there(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts.json"
    hosts.touch()
    named = judged(HCCL_WHITELIST_DISABLE="0", HCCL_WHITELIST_FILE=str(hosts))
    assert {entry.state for entry in named.values()} == {State.OK}


def test_cuda_visible_devices_is_no_fault_without_an_npu() -> None:
    assert judged(False, CUDA_VISIBLE_DEVICES="0")["CUDA_VISIBLE_DEVICES"].state is State.OK
    assert judged(False, CUDA_VISIBLE_DEVICES="")["CUDA_VISIBLE_DEVICES"].state is State.NOTE


def test_nothing_is_set() -> None:
    assert judged()["variables"].state is State.ABSENT
