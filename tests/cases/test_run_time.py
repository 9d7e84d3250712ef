"""What the reports and traps say of run time, executed on the CPU with the real shim.

Ported code has to do its job there, and what ran before the port has to run as it did.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.distributed as dist

from tests.cases.harness import port, run

pytestmark = pytest.mark.usefixtures("accel")

ROOT = Path(__file__).parents[2]
CPU = torch.device("cpu")
HashStore: Any = vars(dist)["HashStore"]


@pytest.fixture
def group() -> Any:
    """A process group of one process."""
    dist.init_process_group("gloo", store=HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


# ---- training ----


@pytest.mark.parametrize("enabled", [True, False])
def test_d01_the_flag_of_autocast_is_a_flag(enabled: bool) -> None:
    step = run(
        """
        import torch
        def step(x, enabled):
            with torch.cuda.amp.autocast(enabled):
                return x @ x
        """
    )["step"]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert step(torch.eye(2), enabled).dtype is torch.float32
    if not enabled:
        assert not seen


def test_d03_decorated_functions_import_and_train() -> None:
    function = run(
        """
        import torch
        class Double(torch.autograd.Function):
            @staticmethod
            @torch.cuda.amp.custom_fwd(cast_inputs=torch.float32)
            def forward(ctx, x):
                return x * 2
            @staticmethod
            @torch.cuda.amp.custom_bwd
            def backward(ctx, grad):
                return grad * 2
        """
    )["Double"]
    x = torch.ones(3, requires_grad=True)
    function.apply(x).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_d04_the_scaler_works_disabled_and_says_so() -> None:
    with pytest.warns(UserWarning, match="float16 would train without loss scaling") as seen:
        scaler = run("import torch\nscaler = torch.cuda.amp.GradScaler(enabled=True)\n")["scaler"]
    assert len(seen) == 1
    weight = torch.ones(1, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.5)
    scaler.scale((weight * 2).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert weight.item() == 0.0
    on_cuda = {"scale": 1024.0, "growth_factor": 2.0, "backoff_factor": 0.5}
    on_cuda |= {"growth_interval": 2000, "_growth_tracker": 7}
    scaler.load_state_dict(on_cuda)
    assert scaler.state_dict() == on_cuda, "the next run on an accelerator goes on with it"


def test_d05_an_index_is_dropped() -> None:
    put = run('import torch\ndef put(x, rank):\n    return x.to(f"cuda:{rank}")\n')["put"]
    assert put(torch.ones(1), 3).device == CPU
    assert str(run('import torch\nd = f"cuda:{3}"\ndevice = f"cuda:{1}"\n')["device"]) == "cpu"


def test_d06_the_option_to_stay_on_the_cpu_is_heard() -> None:
    text = """
        import torch
        def pick(args):
            return torch.device(
                "cuda" if torch.cuda.is_available() and not args.no_cuda else "cpu"
            )
        """
    pick = run(text)["pick"]
    assert {pick(SimpleNamespace(no_cuda=flag)) for flag in (True, False)} == {CPU}


FALLBACKS = [
    'if device == "cuda" and not torch.cuda.is_available():\n    device = "cpu"\n',
    'if not torch.cuda.is_available() and device.startswith("cuda"):\n    device = "cpu"\n',
    'if device == "cuda":\n    if not torch.cuda.is_available():\n        device = "cpu"\n',
    'if not torch.cuda.is_available():\n    if "cuda" in device:\n        device = "cpu"\n',
]


@pytest.mark.parametrize("text", FALLBACKS)
def test_d07_a_fallback_still_falls_back(text: str) -> None:
    assert run(f"import torch\n{text}", device="cuda")["device"] == "cpu"


def test_d07_a_refusal_still_refuses() -> None:
    with pytest.raises(AssertionError, match="no GPU"):
        run('import torch\nassert torch.cuda.is_available(), "no GPU"\n')


def test_d08_nothing_on_the_cpu_is_on_an_accelerator() -> None:
    names = run(
        """
        import torch
        first = t.is_cuda
        second = t.device.type == "cuda"
        third = "cuda" in str(t.device)
        fourth = t.device == torch.device("cuda")
        """,
        t=torch.ones(1),
    )
    assert [names[n] for n in ("first", "second", "third", "fourth")] == [False] * 4


def test_d09_whole_numbers_are_the_cpu() -> None:
    names = run(
        """
        import torch
        a = torch.ones(2).to(0)
        b = torch.ones(2).cuda(1, non_blocking=True)
        c = torch.zeros(1, device=0)
        d = torch.nn.Linear(1, 1).to(local_rank)
        """,
        local_rank=2,
    )
    assert {names[n].device for n in "abc"} == {CPU}
    assert names["d"].weight.device == CPU


def test_d10_out_of_memory_is_a_class_that_is_caught() -> None:
    attempt = run(
        """
        import torch
        def attempt(job):
            try:
                return job()
            except (ValueError, torch.cuda.OutOfMemoryError):
                torch.cuda.empty_cache()
                return "retried"
        """
    )["attempt"]

    def fail() -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    assert attempt(fail) == "retried"


def test_d11_half_precision_is_what_it_was() -> None:
    text = """
        import torch
        has = torch.cuda.is_available() and torch.cuda.is_bf16_supported()
        half = torch.bfloat16 if has else torch.float16
        """
    assert run(text)["half"] is torch.float16


def test_d12_a_capability_is_not_made_up(accel: Any) -> None:
    assert accel.get_device_capability() is None


def test_d13_and_t74_properties_are_not_made_up() -> None:
    names = run(
        """
        import torch
        props = torch.cuda.get_device_properties(0)
        size = props.total_memory
        try:
            arch = "sm_" + str(props.major)
        except Exception:
            arch = None
        """
    )
    assert names["size"] > 0
    assert names["arch"] is None
    assert not hasattr(names["props"], "multi_processor_count")


def test_d14_memory_figures_are_zero(capsys: pytest.CaptureFixture[str]) -> None:
    run(
        """
        import torch
        torch.cuda.reset_max_memory_allocated()
        print(f"peak {torch.cuda.max_memory_allocated() / 2**20:.1f} MiB")
        """
    )
    assert capsys.readouterr().out == "peak 0.0 MiB\n"


def test_d15_events_measure_milliseconds() -> None:
    spent = run(
        """
        import torch
        s, e = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        s.record(); sum(range(10000)); e.record()
        torch.cuda.synchronize()
        spent = s.elapsed_time(e)
        """
    )["spent"]
    assert isinstance(spent, float)
    assert spent > 0


def test_d16_a_prefetcher_gives_what_it_was_given() -> None:
    ahead = run(
        """
        import torch
        class Ahead:
            def __init__(self):
                self.side = torch.cuda.Stream()
            def load(self, x):
                with torch.cuda.stream(self.side):
                    x = x.cuda(non_blocking=True)
                torch.cuda.current_stream().wait_stream(self.side)
                x.record_stream(torch.cuda.current_stream())
                return x
        """
    )["Ahead"]()
    x = torch.arange(4)
    assert torch.equal(ahead.load(x), x)


def test_d17_double_stays_double() -> None:
    names = run(
        """
        import torch
        a = torch.cuda.DoubleTensor(4).zero_()
        b = torch.ones(2).double().cuda()
        c = torch.ones(2).to("cuda", torch.float64)
        """
    )
    assert {names[n].dtype for n in "abc"} == {torch.float64}


def test_d22_a_class_with_its_own_cuda_still_has_it() -> None:
    boxes = run(
        """
        import torch
        class Boxes:
            def __init__(self, data): self.data = data
            def cuda(self):
                return Boxes(self.data.cuda())
        """
    )["Boxes"]
    assert boxes(torch.ones(2)).cuda().data.tolist() == [1.0, 1.0]


def test_d23_and_t17_legacy_types() -> None:
    names = run(
        """
        import torch
        Kind = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor
        made = torch.cuda.FloatTensor(2)
        known = isinstance(x, torch.cuda.FloatTensor)
        both = isinstance(x, (torch.cuda.FloatTensor, torch.FloatTensor))
        named = x.type() == "torch.cuda.FloatTensor"
        y = x.type("torch.cuda.LongTensor")
        """,
        x=torch.ones(2),
    )
    assert names["Kind"] is torch.FloatTensor
    assert (names["made"].dtype, names["made"].device) == (torch.float32, CPU)
    assert (names["known"], names["both"], names["named"]) == (False, True, False)
    assert names["y"].dtype is torch.int64


# ---- distributed ----


@pytest.mark.usefixtures("group")
def test_d24_and_t51_ddp_trains_without_a_list_of_devices() -> None:
    wrapped = run(
        """
        import torch
        from torch.nn.parallel import DistributedDataParallel as DDP
        net = DDP(torch.nn.Linear(1, 1).cuda(rank), device_ids=[rank], output_device=rank)
        """,
        rank=0,
    )["net"]
    assert wrapped.device_ids is None
    wrapped(torch.ones(1, 1)).sum().backward()
    assert wrapped.module.bias.grad.item() == 1.0


def test_d25_and_t67_the_backend_is_one_that_runs() -> None:
    names = run(
        """
        import torch.distributed as dist
        from dataclasses import dataclass, fields
        @dataclass
        class Options:
            backend: str = "nccl"
            def changed(self):
                return {f.name for f in fields(self) if getattr(self, f.name) != f.default}
        def start(backend="nccl"):
            assert backend in ("nccl", "gloo")
            dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1)
            fast = dist.get_backend() == "nccl"
            dist.destroy_process_group()
            return fast
        """
    )
    assert names["start"]() is False
    assert names["start"]("gloo") is False
    assert names["Options"]().changed() == set()


@pytest.mark.usefixtures("group")
def test_d26_a_barrier_gets_no_devices() -> None:
    done = run("import torch.distributed as dist\ndone = dist.barrier(device_ids=[0])\n")["done"]
    assert done is None


def test_d27_a_group_starts_without_a_device() -> None:
    backend = run(
        """
        import torch, torch.distributed as dist
        torch.cuda.set_device(3)
        dist.init_process_group(
            "nccl", device_id=torch.device("cuda", 3), store=dist.HashStore(), rank=0, world_size=1
        )
        backend = dist.get_backend()
        dist.destroy_process_group()
        """
    )["backend"]
    assert backend == "gloo"


def test_d28_and_t50_there_is_a_process_to_start() -> None:
    names = run(
        """
        import torch
        n = torch.cuda.device_count()
        local = rank % torch.cuda.device_count()
        share = rank // n
        none = torch.cuda.device_count() == 0
        world_size = torch.cuda.device_count() * 2
        """,
        rank=5,
    )
    assert (names["n"], names["local"], names["share"]) == (1, 0, 5)
    assert names["none"] is True
    assert names["world_size"] == 2


# ---- checkpoints and random numbers ----


@pytest.mark.parametrize(
    "place",
    [
        '"cuda:0"',
        'torch.device("cuda", 1)',
        "lambda s, l: s.cuda(0)",
        '{"cuda:0": f"cuda:{rank}"}',
        '{f"cuda:{i}": f"cuda:{rank}" for i in range(8)}',
    ],
)
def test_d29_d30_and_t23_a_checkpoint_loads(tmp_path: Path, place: str) -> None:
    path = tmp_path / "net.pt"
    torch.save({"weight": torch.ones(2)}, path)
    text = f"import torch\nstate = torch.load(path, map_location={place}, weights_only=True)\n"
    state = run(text, path=path, rank=1)["state"]
    assert state["weight"].device == CPU


def test_d31_a_state_of_other_devices_is_skipped_with_a_warning() -> None:
    names = run(
        """
        import torch
        def save():
            return {"cuda_rng": torch.cuda.get_rng_state_all(), "cpu_rng": torch.get_rng_state()}
        def restore(state):
            torch.set_rng_state(state["cpu_rng"])
            torch.cuda.set_rng_state_all(state["cuda_rng"])
        """
    )
    state = names["save"]()
    expected = torch.rand(3)
    names["restore"](state)
    assert torch.equal(torch.rand(3), expected)
    state["cuda_rng"] = [torch.zeros(16, dtype=torch.uint8)] * 2
    with pytest.warns(UserWarning, match="another kind or number of devices"):
        names["restore"](state)
    assert torch.equal(torch.rand(3), expected)


def test_d32_and_d33_seeds_and_generators() -> None:
    names = run(
        """
        import torch
        torch.manual_seed(3)
        before = torch.get_rng_state()
        torch.cuda.manual_seed_all(7)
        after = torch.get_rng_state()
        g = torch.Generator(device="cuda").manual_seed(1)
        x = torch.randn(2, generator=g, device="cuda")
        """
    )
    assert torch.equal(names["before"], names["after"])
    assert torch.equal(names["x"], torch.randn(2, generator=torch.Generator().manual_seed(1)))


# ---- environment, processes, options ----


def test_d36_the_shim_starts_no_device() -> None:
    text = """
        import torch
        import porter_runtime as accel
        accel.device_type, accel.is_available(), accel.dist_backend(), accel.device_count()
        started = torch.cuda.is_initialized()
        """
    assert run(text)["started"] is False


def test_d35_and_t47_the_environment_is_written_before_torch_is_imported() -> None:
    ported = port(
        """
        import os, sys
        os.environ["CUDA_VISIBLE_DEVICES"] = "1"
        assert "torch" not in sys.modules and "porter_runtime" not in sys.modules
        import torch
        x = torch.zeros(1).cuda()
        assert "porter_runtime" in sys.modules
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", ported],
        env={**os.environ, "PYTHONPATH": str(ROOT / "runtime")},
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()


def test_d39_and_t14_an_option_takes_what_it_offers() -> None:
    parser = run(
        """
        import argparse
        parser = argparse.ArgumentParser()
        parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
        parser.add_argument("--dev", choices=("cuda", "mps"))
        """
    )["parser"]
    assert isinstance(parser, argparse.ArgumentParser)
    assert parser.parse_args([]).device == "cpu"
    assert parser.parse_args(["--device", "cuda", "--dev", "mps"]).device == "cuda"
    choices = next(a.choices for a in parser._actions if a.dest == "device")
    assert choices == ["cuda", "cpu"]


def test_d58_a_loader_gives_its_batches() -> None:
    loader = run(
        """
        import torch
        from torch.utils.data import DataLoader
        loader = DataLoader(
            data, pin_memory=torch.cuda.is_available(), pin_memory_device="cuda"
        )
        """,
        data=[torch.ones(1), torch.zeros(1)],
    )["loader"]
    assert [batch.item() for batch in loader] == [1.0, 0.0]


# ---- traps ----


def test_t18_an_error_is_known_by_its_class_or_its_text() -> None:
    text = """
        import torch
        def is_oom(error):
            return "CUDA out of memory" in str(error)
        """
    is_oom = run(text)["is_oom"]
    assert is_oom(RuntimeError("CUDA out of memory. Tried to allocate"))
    assert is_oom(RuntimeError("NPU out of memory"))
    assert not is_oom(RuntimeError("shape mismatch"))


def test_t20_and_t56_defaults_and_module_names_are_plain_values() -> None:
    names = run(
        """
        import torch
        device = torch.device("cuda")
        def sample(n, device="cuda", other="cuda:1"):
            return torch.zeros(n, device=device), other
        """
    )
    assert names["device"] == CPU
    assert names["sample"](2)[0].device == CPU
    assert names["sample"](2)[1] == "cpu"


def test_t25_get_device_is_no_index_on_the_cpu() -> None:
    text = """
        import torch
        a = torch.zeros(3).cuda(x.get_device())
        b = torch.zeros(3, device=x.get_device())
        c = torch.device("cuda", x.get_device())
        with torch.cuda.device(x.get_device()):
            d = torch.zeros(1)
        """
    names = run(text, x=torch.ones(1))
    assert {names["a"].device, names["b"].device, names["c"]} == {CPU}


TERNARIES = [
    '"cuda" if torch.cuda.is_available() else "cpu"',
    '"cuda:0" if torch.cuda.is_available() and not args.cpu else "cpu"',
    '"cpu" if not torch.cuda.is_available() else f"cuda:{args.gpu}"',
    '["cpu", "cuda"][torch.cuda.is_available()]',
]


@pytest.mark.parametrize("text", TERNARIES)
def test_t26_a_choice_is_what_it_was(text: str) -> None:
    args = SimpleNamespace(cpu=False, gpu=1)
    assert run(f"import torch\ndevice = {text}\n", args=args)["device"] == "cpu"


def test_t28_names_are_objects() -> None:
    names = run(
        """
        import torch
        class Side(torch.cuda.Stream): ...
        side: torch.cuda.Stream = torch.cuda.Stream()
        ok = isinstance(side, torch.cuda.Stream)
        hooks = [torch.cuda.empty_cache, torch.cuda.synchronize]
        values = [hook() for hook in hooks]
        """
    )
    assert names["ok"] is True
    assert names["values"] == [None, None]


def test_t29_t30_and_t65_decorators_of_every_form() -> None:
    names = run(
        """
        import torch
        from torch.cuda.amp import autocast
        @torch.cuda.amp.autocast(False)
        def a(x): return x + 1
        @autocast(enabled=False)
        def b(x): return x + 2
        c = torch.cuda.amp.autocast(enabled=False)(lambda x: x + 3)
        scaler = torch.cuda.amp.GradScaler(2.0**8, enabled=False)
        """
    )
    assert [names[n](1) for n in "abc"] == [2, 3, 4]
    assert names["scaler"].is_enabled() is False


def test_t37_and_t38_every_form_of_the_call() -> None:
    names = run(
        """
        import torch
        moved = [
            x.cuda(), x.cuda(0, True), x.cuda(device=1), x.cuda(None), x.cuda("cuda:1"),
            x.cuda(args.gpu, non_blocking=True), x.cuda(torch.cuda.current_device()),
        ]
        net.cuda()
        kept = net.cuda(args.gpu) is net
        """,
        x=torch.ones(1),
        net=torch.nn.Linear(1, 1),
        args=SimpleNamespace(gpu=None),
    )
    assert {t.device for t in names["moved"]} == {CPU}
    assert names["kept"] is True


def test_t44_and_d59_scripted_code_compiles() -> None:
    name = "scripted"
    text = """
        import torch
        def scripted(x: torch.Tensor):
            if x.is_cuda:
                return x + torch.zeros(1, device="cuda")
            return x
        """
    ported = port(text + "\n        fast = torch.jit.script(scripted)\n")
    assert "accel" not in ported
    function = run(text)[name]
    assert torch.equal(function(torch.ones(1)), torch.ones(1))


def test_t64_the_cpu_is_refused() -> None:
    text = """
        import torch
        def check(device):
            if device.type not in ("cuda", "mps"):
                raise ValueError("needs a GPU")
        """
    check = run(text)["check"]
    with pytest.raises(ValueError, match="needs a GPU"):
        check(CPU)
    check(torch.device("mps"))


def test_t70_the_current_device() -> None:
    names = run(
        """
        import torch
        t = torch.tensor([1], device=torch.cuda.current_device())
        name = f"rank{torch.cuda.current_device()}"
        """
    )
    assert (names["t"].device, names["name"]) == (CPU, "rank0")


def test_t71_the_catch_all_catches_what_it_caught() -> None:
    choose = run(
        """
        import torch
        def choose(rank):
            try:
                if torch.cuda.is_available():
                    return f"cuda:{rank}"
                raise SystemError("no device")
            except Exception:
                return "cpu"
        """
    )["choose"]
    assert choose(1) == "cpu"
