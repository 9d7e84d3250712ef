"""What a port of Accelerate leaves, and that the hand-made port's mistakes aren't in porter's."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.ports.accelerate.runs import HERE, SHIM, Tree, copied
from tests.ports.command import porter
from tests.ports.conftest import Figure

PROGRAMS = HERE / "programs"
LEFT = {
    "accelerator.py": {"PTR202": 1},
    "test_utils/scripts/test_script.py": {"PTR309": 1},
    "utils/launch.py": {"PTR604": 3},
    "utils/memory.py": {"PTR602": 1},
    "utils/modeling.py": {"PTR101": 3, "PTR305": 2},
}
"""What is left to a maintainer, by file and rule: FP8's compute capability, a type of random state
that may be taken for a device, CUDA_VISIBLE_DEVICES for launched processes, a list of texts of
out-of-memory errors, and bitsandbytes' layers, which `.cuda()` quantises."""


@pytest.fixture(scope="module")
def hand_made(project: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """Accelerate as people ported it to NPU: its next release."""
    folder = tmp_path_factory.mktemp("hand-made") / "tree"
    return copied(project("accelerate==0.21.0"), folder)


def found(command: str, *options: str, port: Tree) -> list[tuple[str, str, str, int, int]]:
    """Returns file, code, level, first and last line of all that porter says of the port."""
    done = porter(command, *options, "--format=json", str(port.folder))
    return [
        (
            Path(file["path"]).relative_to(port.package).as_posix(),
            finding["code"],
            finding["level"],
            finding["line"],
            finding["end_line"],
        )
        for file in json.loads(done.stdout)["files"]
        for finding in file["findings"]
    ]


def test_only_what_a_maintainer_must_decide_is_left(port: Tree, figure: Figure) -> None:
    left: dict[str, dict[str, int]] = {}
    for file, code, level, *_ in found("check", "--all", port=port):
        assert level == "manual"
        codes = left.setdefault(file, {})
        codes[code] = codes.get(code, 0) + 1
    assert left == LEFT
    for file, codes in left.items():
        figure(
            f"accelerate, left to you, {file}: {', '.join(f'{n} {c}' for c, n in codes.items())}"
        )


NAMES = ("cuda", "nccl", "CUDA_VISIBLE_DEVICES", "CUDA out of memory.")


def mentions(file: Path) -> Iterator[int]:
    """Yields the lines on which the code of a file still means CUDA; its prose doesn't count."""
    tree = ast.parse(file.read_text())
    prose = {
        id(statement.value)
        for statement in ast.walk(tree)
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr="cuda" | "is_cuda" | "cudnn"):
                yield node.lineno
            case ast.Constant(value=str(text)) if id(node) not in prose:
                if text.startswith("cuda:") or text in NAMES:
                    yield node.lineno


def test_every_mention_of_cuda_that_is_left_has_its_reason(port: Tree) -> None:
    explained: dict[str, list[range]] = {}
    for file, _, _, first, last in found("rewrite", "--dry-run", port=port):
        explained.setdefault(file, []).append(range(first, last + 1))
    count = 0
    for path in sorted(port.package.rglob("*.py")):
        file = path.relative_to(port.package).as_posix()
        if not f"accelerate/{file}".startswith(SHIM):
            for line in mentions(path):
                count += 1
                assert any(line in lines for lines in explained.get(file, [])), f"{file}:{line}"
    assert count >= 10


def test_a_second_port_changes_nothing(port: Tree) -> None:
    before = {file: file.read_bytes() for file in port.folder.rglob("*.py")}
    assert porter("rewrite", str(port.folder)).returncode == 0
    assert {file: file.read_bytes() for file in port.folder.rglob("*.py")} == before


def doubled(tree: Tree) -> list[str]:
    """Returns the collections in which one name stands twice, as `file: name`."""
    return sorted(
        f"{file.relative_to(tree.package).as_posix()}: {name}"
        for file in tree.package.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.List | ast.Tuple | ast.Set)
        for names in [[ast.unparse(e) for e in node.elts if isinstance(e, ast.Attribute)]]
        for name in {name for name in names if names.count(name) > 1}
    )


def test_no_kind_of_device_stands_twice_where_two_were_meant(
    original: Tree, port: Tree, hand_made: Tree
) -> None:
    mistake = "commands/config/cluster.py: DistributedType.MULTI_GPU"
    assert mistake in doubled(hand_made)
    assert doubled(port) == doubled(original)
    assert mistake not in doubled(port)


def launch_environment(tree: Tree, backend: str) -> dict[str, dict[str, str]]:
    """Returns the variables that `--gpu_ids 1,2` sets for launched processes, by launcher."""
    environment = tree.run(
        str(PROGRAMS / "launch_environment.py"), backend=backend, devices=3
    ).answer
    assert isinstance(environment, dict)
    return environment


@pytest.mark.slow
def test_a_machine_with_cuda_gets_cudas_variable(
    original: Tree, port: Tree, mended_port: Tree, hand_made: Tree
) -> None:
    expected = {"CUDA_VISIBLE_DEVICES": "1,2"}
    for tree in (original, port):
        seen = launch_environment(tree, "cuda-emulated")
        assert seen == {"simple": expected, "multi": expected}
    for variables in launch_environment(mended_port, "cuda-emulated").values():
        assert variables == {**expected, "ASCEND_RT_VISIBLE_DEVICES": "1,2"}
    assert launch_environment(hand_made, "cuda-emulated")["multi"] == {"ZE_AFFINITY_MASK": "1,2"}


@pytest.mark.slow
def test_gpu_ids_choose_npus_once_mended(port: Tree, mended_port: Tree) -> None:
    for way, variables in launch_environment(mended_port, "npu-emulated").items():
        assert variables["ASCEND_RT_VISIBLE_DEVICES"] == "1,2", way
    for way, variables in launch_environment(port, "npu-emulated").items():
        assert "ASCEND_RT_VISIBLE_DEVICES" not in variables, way


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["npu-emulated", "cpu"])
def test_collectives_answer_what_they_are_asked(backend: str, port: Tree, hand_made: Tree) -> None:
    script = str(PROGRAMS / "collectives.py")
    first, second = port.launch(script, backend=backend).answer
    where = [first.pop("device"), second.pop("device")]
    assert where == (["npu:0", "npu:1"] if backend == "npu-emulated" else ["cpu", "cpu"])
    assert first.pop("backend") == ("hccl" if backend == "npu-emulated" else "gloo")
    assert first == {
        "gather": [1.0, 2.0, 11.0, 12.0],
        "gather_object": [0, 1],
        "broadcast": [11.0, 12.0],
        "broadcast_object_list": ["of 1"],
        "reduce": [6.0, 7.0],
        "pad": [1.0, 0.0],
    }
    assert {**second, "pad": first["pad"]} == {**first, "backend": second["backend"]}
    assert second["pad"] == [1.0, 1.0]
    if backend == "npu-emulated":
        mistaken = hand_made.launch(script, backend=backend)
        assert mistaken.returncode != 0
        assert "_gpu_gather_object" in mistaken.output
