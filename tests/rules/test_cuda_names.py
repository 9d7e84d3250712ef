"""Names of torch.cuda: whole files before and after, and run on the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch

import porter_runtime
from porter.engine import rewrite_source
from porter.model import Level

SHIM_IMPORT = "import porter_runtime as accel\n"
Codes = list[tuple[str, int]]


def port(before: str) -> tuple[str, Codes, Codes]:
    """Return the ported text without the shim's import, and (code, line) rewritten and manual."""
    result = rewrite_source(before.encode())
    assert not result.failed, result.findings
    sites = {
        level: [(f.code, f.line) for f in result.findings if f.level is level] for level in Level
    }
    text = result.output.decode().replace(SHIM_IMPORT, "", 1)
    return text, sites[Level.REWRITTEN], sites[Level.MANUAL]


def notes(before: str) -> Codes:
    findings = rewrite_source(before.encode()).findings
    return [(f.code, f.line) for f in findings if f.level is Level.NOTE]


@pytest.fixture
def run_on_cpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a function that ports a text, runs it on the CPU, and returns what it defined."""
    monkeypatch.setenv("PORTER_DEVICE", "cpu")
    porter_runtime._reset()  # type: ignore[attr-defined]  # for tests, not in the stub

    def run(before: str, **given: Any) -> dict[str, Any]:
        exec(compile(rewrite_source(before.encode()).output, "ported", "exec"), given)
        return given

    yield run
    porter_runtime._reset()  # type: ignore[attr-defined]  # for tests, not in the stub


# ---- contexts ----


def test_out_of_memory_is_caught_by_its_class(run_on_cpu: Any) -> None:
    before = (
        "import torch\n"
        "def go(f):\n"
        "    try:\n"
        "        return f()\n"
        "    except torch.cuda.OutOfMemoryError:\n"
        "        torch.cuda.empty_cache()\n"
        "        return None\n"
    )
    text, rewritten, _ = port(before)
    assert "    except accel.OutOfMemoryError:\n        accel.empty_cache()\n" in text
    assert rewritten == [("PTR201", 5), ("PTR201", 6)]
    go = run_on_cpu(before)["go"]

    def fail() -> None:
        raise torch.cuda.OutOfMemoryError("CUDA out of memory")

    assert go(lambda: 1) == 1
    assert go(fail) is None


def test_a_probe_keeps_its_answer_on_the_cpu(run_on_cpu: Any) -> None:
    before = (
        "import torch\n"
        "dt = (torch.bfloat16 if torch.cuda.is_available() and torch.cuda.is_bf16_supported()\n"
        "      else torch.float16)\n"
    )
    assert port(before)[1] == [("PTR201", 2), ("PTR201", 2)]
    assert run_on_cpu(before)["dt"] is torch.float16


def test_memory_figures_inside_an_f_string() -> None:
    text, _, _ = port(
        "import torch\n"
        "torch.cuda.reset_max_memory_allocated()\n"
        'print(f"peak {torch.cuda.max_memory_allocated() / 2**20:.1f}MiB")\n'
    )
    assert text == (
        "import torch\n"
        "accel.reset_max_memory_allocated()\n"
        'print(f"peak {accel.max_memory_allocated() / 2**20:.1f}MiB")\n'
    )


def test_a_field_that_prints_its_own_text_is_left() -> None:
    before = 'import torch\nprint(f"{torch.cuda.device_count()=}, {torch.cuda.device_count()}")\n'
    text, rewritten, manual = port(before)
    assert text.splitlines()[1] == (
        'print(f"{torch.cuda.device_count()=}, {accel.device_count()}")'
    )
    assert rewritten == [("PTR201", 2)]
    assert manual == [("PTR210", 2)]


def test_events_time_on_the_cpu(run_on_cpu: Any) -> None:
    before = (
        "import torch\n"
        "s, e = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)\n"
        "s.record(); e.record()\n"
        "torch.cuda.synchronize()\n"
        "ms = s.elapsed_time(e)\n"
    )
    text, rewritten, _ = port(before)
    assert text.splitlines()[2] == "s.record(); e.record()"
    assert [line for _, line in rewritten] == [2, 2, 4]
    ms = run_on_cpu(before)["ms"]
    assert isinstance(ms, float)
    assert ms >= 0


def test_a_prefetcher_hands_out_its_batches_on_the_cpu(run_on_cpu: Any) -> None:
    before = (
        "import torch\n"
        "class P:\n"
        "    def __init__(self):\n"
        "        self.s = torch.cuda.Stream()\n"
        "    def load(self, x):\n"
        "        with torch.cuda.stream(self.s):\n"
        "            x = x.cuda(non_blocking=True)\n"
        "        torch.cuda.current_stream().wait_stream(self.s)\n"
        "        x.record_stream(torch.cuda.current_stream())\n"
        "        x.record_stream(self.s)\n"
        "        return x\n"
    )
    text, _, manual = port(before)
    assert "        accel.record_stream(x, accel.current_stream())\n" in text
    assert "        accel.record_stream(x, self.s)\n" in text
    assert "            x = x.to(accel.device_type, non_blocking=True)\n" in text
    assert manual == []
    x = torch.arange(3)
    assert torch.equal(run_on_cpu(before)["P"]().load(x), x)


def test_random_states_keep_their_keys(run_on_cpu: Any) -> None:
    before = (
        "import torch\n"
        "torch.manual_seed(0)\n"
        "torch.cuda.manual_seed_all(0)\n"
        'def save(): return {"cuda_rng": torch.cuda.get_rng_state_all(), "rng": 1}\n'
        'def load(s): torch.cuda.set_rng_state_all(s["cuda_rng"])\n'
    )
    text, rewritten, _ = port(before)
    assert text.splitlines()[1:] == [
        "torch.manual_seed(0)",
        "accel.manual_seed_all(0)",
        'def save(): return {"cuda_rng": accel.get_rng_state_all(), "rng": 1}',
        'def load(s): accel.set_rng_state_all(s["cuda_rng"])',
    ]
    assert len(rewritten) == 3
    names = run_on_cpu(before)
    names["load"](names["save"]())


def test_a_name_as_a_value_a_type_and_a_default(run_on_cpu: Any) -> None:
    before = (
        "import torch\n"
        "timer = torch.cuda.synchronize if flag else None\n"
        "def f(seed_fn=torch.cuda.manual_seed, stream: torch.cuda.Stream = None):\n"
        "    return seed_fn(0), isinstance(stream, torch.cuda.Stream)\n"
        "later: 'list[torch.cuda.Event]' = []\n"
    )
    text, rewritten, manual = port(before)
    assert "torch.cuda" not in text
    assert len(rewritten) == 5
    assert manual == []
    names = run_on_cpu(before + "stream = torch.cuda.Stream()\n", flag=True)
    assert names["timer"]() is None
    assert names["f"](stream=names["stream"]) == (None, True)


# ---- what has no meaning off CUDA ----


def test_capability_is_for_a_person() -> None:
    before = (
        "import torch\n"
        "if torch.cuda.get_device_capability()[0] >= 8:\n"
        "    torch.backends.cuda.matmul.allow_tf32 = True\n"
    )
    text, rewritten, manual = port(before)
    assert text == before
    assert rewritten == []
    assert ("PTR202", 2) in manual


@pytest.mark.parametrize(
    "condition",
    [
        "torch.cuda.is_available() and torch.cuda.get_device_capability()[0] >= 8",
        "not args.cpu and torch.cuda.is_available() and torch.cuda.get_device_capability() > (7,)",
        "torch.cuda.is_available() and (force or torch.cuda.get_device_capability()[0] >= 8)",
        "torch.cuda.device_count() > 0 and torch.cuda.get_arch_list()",
    ],
)
@pytest.mark.parametrize(
    "use",
    ["if {}:\n    flash = True\n", "flash = {}\n", "x = 1 if {} else 2\n", "assert {}\n"],
)
def test_a_question_for_nvidia_is_left_whole(condition: str, use: str) -> None:
    before = "import torch\n" + use.format(condition)
    text, rewritten, manual = port(before)
    assert text == before
    assert rewritten == []
    assert {code for code, _ in manual} == {"PTR211"}


def test_a_guard_stays_with_what_only_cuda_has() -> None:
    before = (
        "import torch\n"
        "if torch.cuda.is_available():\n"
        "    major, minor = torch.cuda.get_device_capability()\n"
        "    print(major, minor)\n"
    )
    text, _, manual = port(before)
    assert text == before
    assert manual == [("PTR201", 2), ("PTR202", 3)]


def test_a_guard_of_a_move_is_ported_beside_what_only_cuda_has() -> None:
    text, rewritten, manual = port(
        "import torch\n"
        "if torch.cuda.is_available():\n"
        "    model.cuda()\n"
        "    print(torch.cuda.get_device_capability())\n"
    )
    assert text.splitlines()[1:] == [
        "if accel.is_available():",
        "    model.to(accel.device_type)",
        "    print(torch.cuda.get_device_capability())",
    ]
    assert rewritten == [("PTR201", 2), ("PTR101", 3)]
    assert manual == [("PTR202", 4)]


def test_a_call_of_a_refused_name_keeps_its_arguments() -> None:
    before = "import torch\nc = torch.cuda.get_device_capability(torch.cuda.current_device())\n"
    text, _, manual = port(before)
    assert text == before
    assert manual == [("PTR202", 2)]


def test_properties_are_mirrored_and_nvidias_own_reported(run_on_cpu: Any) -> None:
    before = (
        "import torch\n"
        "p = torch.cuda.get_device_properties(0)\n"
        "try:\n"
        "    blocks = p.multi_processor_count * 2\n"
        "except AttributeError:\n"
        "    blocks = None\n"
        "gb = p.total_memory / 2**30\n"
    )
    text, rewritten, manual = port(before)
    assert "p = accel.get_device_properties(0)\n" in text
    assert rewritten == [("PTR201", 2)]
    assert manual == [("PTR212", 4)]
    names = run_on_cpu(before)
    assert names["blocks"] is None
    assert names["gb"] > 0


def test_properties_in_a_function_and_from_an_import() -> None:
    _, _, manual = port(
        "from torch.cuda import get_device_properties as props\n"
        "def sm(device):\n"
        "    found = props(device)\n"
        "    return f'sm_{found.major}{found.minor}', found.name, props(0).warp_size\n"
    )
    assert manual == [("PTR212", 4)] * 3


@pytest.mark.parametrize("test", ["t.device.type == 'cuda'", "'cuda' in str(device)"])
def test_a_branch_for_cuda_alone_is_left_with_notes(test: str) -> None:
    before = f"import torch\nif {test}:\n    torch.cuda.nvtx.range_push('f')\n"
    text, rewritten, manual = port(before)
    assert text == before
    assert rewritten == []
    assert manual == []
    assert notes(before) == [("PTR213", 2), ("PTR201", 3)]


# ---- devices and their count ----


def test_a_count_counts_at_least_one_where_zero_would_fail(run_on_cpu: Any) -> None:
    before = (
        "import torch\n"
        "n = torch.cuda.device_count()\n"
        "world_size = torch.cuda.device_count()\n"
        "shards = torch.cuda.device_count()\n"
        "part = 8 // shards\n"
        "local = 3 % torch.cuda.device_count()\n"
        "none = torch.cuda.device_count() == 0\n"
        "some = bool(torch.cuda.device_count())\n"
        "several = torch.cuda.device_count() > 1\n"
    )
    text, _, _ = port(before)
    assert text.splitlines()[1:] == [
        "n = accel.device_count()",
        "world_size = max(1, accel.device_count())",
        "shards = max(1, accel.device_count())",
        "part = 8 // shards",
        "local = 3 % max(1, accel.device_count())",
        "none = accel.device_count() == 0",
        "some = bool(accel.device_count())",
        "several = accel.device_count() > 1",
    ]
    names = run_on_cpu(before)
    assert names["n"] == 0, "what torch.cuda says without CUDA"
    assert (names["world_size"], names["part"], names["local"]) == (1, 8, 0)
    assert (names["none"], names["some"], names["several"]) == (True, False, False)


def test_a_script_that_refuses_to_run_without_a_device_still_refuses(run_on_cpu: Any) -> None:
    for test in ("torch.cuda.is_available()", "torch.cuda.device_count() > 0"):
        with pytest.raises(AssertionError, match="needs a GPU"):
            run_on_cpu(f"import torch\nassert {test}, 'needs a GPU'\n")


def test_the_current_device_is_a_device_or_an_index(run_on_cpu: Any) -> None:
    before = (
        "import torch\n"
        "t = torch.tensor([1], device=torch.cuda.current_device())\n"
        "u = t.to(torch.cuda.current_device())\n"
        'name = f"rank{torch.cuda.current_device()}"\n'
        "used = torch.cuda.memory_allocated(device=torch.cuda.current_device())\n"
    )
    text, _, _ = port(before)
    assert text.splitlines()[1:] == [
        "t = torch.tensor([1], device=accel.torch_device(accel.current_device()))",
        "u = t.to(accel.torch_device(accel.current_device()))",
        'name = f"rank{accel.current_device()}"',
        "used = accel.memory_allocated(device=accel.current_device())",
    ]
    names = run_on_cpu(before)
    assert names["u"].device == torch.device("cpu")
    assert (names["name"], names["used"]) == ("rank0", 0)


# ---- imports and aliases ----


def test_torch_and_its_module_under_other_names() -> None:
    text, _, manual = port(
        "import torch as th\n"
        "from torch import cuda\n"
        "import torch.cuda as tc\n"
        "n = th.cuda.device_count() + cuda.device_count() + tc.device_count()\n"
    )
    assert text.splitlines()[-1] == (
        "n = accel.device_count() + accel.device_count() + accel.device_count()"
    )
    assert manual == []


def test_a_shadowed_torch_is_not_torch() -> None:
    before = "import torch\ndef f(torch): return torch.cuda.synchronize()\n"
    assert port(before) == (before, [], [])


def test_imported_names_are_imported_from_the_shim_and_their_uses_stay() -> None:
    text, rewritten, manual = port(
        "import torch\n"
        "from torch.cuda.amp import autocast, GradScaler as GS\n"
        "from torch.cuda import Stream  # noqa: F401\n"
        "scaler = GS(enabled=True)\n"
        "with autocast(dtype=torch.float16):\n"
        "    s: Stream = Stream()\n"
    )
    assert text == (
        "import torch\n"
        "from porter_runtime import autocast, GradScaler as GS\n"
        "from porter_runtime import Stream  # noqa: F401\n"
        "scaler = GS(enabled=True)\n"
        "with autocast(dtype=torch.float16):\n"
        "    s: Stream = Stream()\n"
    )
    assert rewritten == [("PTR203", 2), ("PTR203", 2), ("PTR203", 3)]
    assert manual == []


def test_an_import_in_try_keeps_its_way_out() -> None:
    text, _, _ = port(
        "try:\n"
        "    from torch.cuda.amp import autocast\n"
        "    HAS = True\n"
        "except ImportError:\n"
        "    HAS = False\n"
    )
    assert text.startswith("try:\n    from porter_runtime import autocast\n    HAS = True\n")


def test_a_local_import_stays_local() -> None:
    text, _, _ = port("def main():\n    import torch\n    torch.cuda.empty_cache()\n")
    assert text.startswith("def main():\n    import torch\n")
    full = rewrite_source(b"def main():\n    import torch\n    torch.cuda.empty_cache()\n").output
    assert full.startswith(b"def main():\n")


# ---- the module itself, and tests that patch it ----


@pytest.mark.parametrize(
    "line",
    [
        "m = torch.cuda",
        "run(torch.cuda)",
        "setattr(torch.cuda, 'is_available', f)",
        "torch.cuda.is_available = lambda: False",
        "monkeypatch.setattr(torch.cuda, 'device_count', lambda: 2)",
        "mock.patch('torch.cuda.is_available', return_value=False)",
        "self.torch.cuda.empty_cache()",
        "f = getattr(torch.cuda, name)",
    ],
)
def test_what_escapes_or_patches_the_module_is_reported(line: str) -> None:
    before = f"import torch\n{line}\n"
    text, rewritten, manual = port(before)
    assert text == before
    assert rewritten == []
    assert [at for _, at in manual] == [2]


def test_a_fallback_module_and_a_version_probe_are_portable() -> None:
    before = (
        "import torch\n"
        "mod = getattr(torch, dev_type, torch.cuda)\n"
        "getattr(torch, device.type).synchronize()\n"
        "native = hasattr(torch.cuda, 'amp')\n"
    )
    assert port(before)[0] == before
    assert notes(before) == [("PTR206", 2), ("PTR206", 4)]


def test_a_ladder_that_knows_the_npu_is_left_and_one_that_knows_xpu_is_not() -> None:
    ladder = (
        "import torch\n"
        "if is_{0}_available():\n"
        "    torch.{0}.empty_cache()\n"
        "else:\n"
        "    torch.cuda.empty_cache()\n"
    )
    assert port(ladder.format("npu"))[1] == []
    assert notes(ladder.format("npu")) == [("PTR201", 5)]
    text, rewritten, _ = port(ladder.format("xpu"))
    assert text.endswith("else:\n    accel.empty_cache()\n")
    assert rewritten == [("PTR201", 5)]


def test_a_second_run_changes_nothing() -> None:
    before = (
        "import torch\n"
        "from torch.cuda import Stream\n"
        "x.record_stream(torch.cuda.current_stream())\n"
        "if torch.cuda.device_count() == 0 or hasattr(torch.cuda, 'mem_get_info'):\n"
        "    s: 'torch.cuda.Stream' = Stream()\n"
        "ok = isinstance(x, torch.cuda.FloatTensor)\n"
        "d = torch.device(torch.cuda.current_device())\n"
    )
    once = rewrite_source(before.encode())
    assert len([f for f in once.findings if f.level is Level.REWRITTEN]) >= 7
    twice = rewrite_source(once.output)
    assert twice.output == once.output
    assert [f for f in twice.findings if f.level is Level.REWRITTEN] == []


def test_an_assertion_for_cuda_is_ported_and_reported() -> None:
    result = rewrite_source(b"assert torch.cuda.is_available(), 'needs a GPU'\n")
    finding = next(f for f in result.findings if f.code == "PTR201")
    assert finding.level is Level.REWRITTEN
    assert "still refuses" in finding.message
